//! Tests of the operator's `catalog.toml`.

use connector_vault::catalog::model::Status;
use connector_vault::importer::licence::LicenceFilter;
use connector_vault::importer::overrides::Overrides;

use super::support::import_sources;

#[test]
#[rustfmt::skip] // one case per line
fn overrides_replace_the_documents_values() {
    let toml = "[platforms.acme-store]\nrename = 'acme'\nname = 'Acme'\ndescription = 'A store.'\ncategory = 'Shops'\nstatus = 'alpha'\n\
                active = false\ntags = ['a', 'b']\nimage = 'https://acme.com/new.png'\nauthkit = true\n\
                [platforms.nowhere]\noptional = true\n";
    let (summary, platforms) = import_sources(&["tests/fixtures/openapi/good/acme-3.0.json"], LicenceFilter::Open, toml);
    let connector = &platforms[0].connector;
    assert_eq!((connector.platform.as_str(), connector.key.as_str(), connector.name.as_str()), ("acme", "api::acme::v2", "Acme"));
    assert_eq!((connector.category.as_str(), connector.status, connector.active), ("Shops", Status::Alpha, false));
    assert_eq!((connector.image.as_str(), connector.description.as_str()), ("https://acme.com/new.png", "A store."));
    assert_eq!(connector.tags, ["a", "b"]);
    assert!(platforms[0].authkit);
    assert!(platforms[0].actions.iter().all(|action| action.platform == "acme"));
    assert_eq!(summary.notes, ["optional entries of catalog.toml ignored, because no document is about them: nowhere"]);
    let (summary, _) = import_sources(&["tests/fixtures/openapi/good"], LicenceFilter::Open, "[platforms.closed]\nauthkit = true\n");
    assert_eq!(summary.notes, ["entries of catalog.toml ignored, because their licence is not open: closed"]);
}

#[test]
#[rustfmt::skip] // one case per line
fn faults_of_overrides_include_their_position() {
    for (toml, fault) in [
        ("[platform.a]\n", "c.toml:1:2: unknown field `platform`; did you mean `platforms`?"),
        ("[platforms.a]\nstauts = 'beta'\n", "c.toml:2:1: unknown field `stauts`; did you mean `status`?"),
        ("[platforms.a]\nstatus = 'bета'\n", "c.toml:2:10: expected one of `generally_available`, `beta`, `alpha`, `not_available`"),
        ("[platforms.a]\nrename = 'A B'\n", "c.toml:2:10: expected 1–64 of a-z, 0-9 and -"),
        ("[platforms.a]\nactive = 'no'\n", "c.toml:2:10: expected true or false"),
        ("[platforms.a]\ntags = ['a', 5]\n", "c.toml:2:14: expected one line of 1 to 64 characters"),
        ("[platforms.a]\nimage = 'http://a.b'\n", "c.toml:2:9: expected an `https:` or `data:image/` URL of at most 2048 characters"),
        ("[platforms.a]\nname = \"a\\nb\"\n", "c.toml:2:8: expected one line of 1 to 120 characters"),
        ("[platforms]\na = 5\n", "c.toml:2:5: a platform is a table: write `[platforms.NAME]`"),
    ] {
        assert_eq!(Overrides::parse("c.toml", toml).unwrap_err().to_string(), fault, "{toml}");
    }
    let two = Overrides::parse("c.toml", "[platforms.a]\nx = 1\ny = 2\n").unwrap_err().to_string();
    assert_eq!(two.lines().count(), 2, "{two}");
}
