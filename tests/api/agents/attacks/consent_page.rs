//! Attacks on the consent page and on the redirects that lead to it.

use super::*;

#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn consent_attacks(fixture: &Fixture) -> Vec<(&'static str, Request, Rejection)> {
    let fields = [("grant", fixture.grant.as_str()), ("decision", "allow"), ("accounts", "all")];
    let evil = Some("https://evil.example");
    let own = Some(ORIGIN);
    let no_platform = [&fields[..2], &[("accounts", "some")]].concat();
    let foreign = [&no_platform[..], &[("platform", "'; DROP TABLE x")]].concat();
    let unknown = [("grant", "00000000-0000-4000-8000-000000000000"), ("decision", "allow")];
    let none = [("decision", "allow")];
    let active = fixture
        .api
        .env
        .texts("SELECT id FROM agent_grants WHERE state = 'active' ORDER BY created_at LIMIT 1");
    let active = active.first().cloned().unwrap();
    let own_page = |request: Request| {
        with_header(with_header(request, "origin", ORIGIN), "sec-fetch-site", "same-origin")
    };
    let continued = |query: &str| anonymous("GET", &format!("{}?{query}", fixture.at("continue")));
    vec![
        ("a form of another site", fixture.consent(&fixture.victim, evil, &fields), Page(403)),
        (
            "a form of a frame without an origin",
            fixture.consent(&fixture.victim, Some("null"), &fields),
            Page(403),
        ),
        (
            "a form of a program without an origin",
            fixture.consent(&fixture.victim, None, &fields),
            Page(403),
        ),
        (
            "the victim's consent from the attacker's browser",
            fixture.consent(&fixture.attacker, own, &fields),
            Page(410),
        ),
        ("consent without a cookie", fixture.consent(&Browser::default(), own, &fields), Page(410)),
        (
            "consent to a grant that does not exist",
            fixture.consent(&fixture.victim, own, &unknown),
            Page(410),
        ),
        ("consent to nothing", fixture.consent(&fixture.victim, own, &none), Page(410)),
        ("no platform at all", fixture.consent(&fixture.victim, own, &no_platform), Page(400)),
        ("an unknown platform", fixture.consent(&fixture.victim, own, &foreign), Page(400)),
        (
            "declining for the victim",
            fixture.consent(
                &fixture.attacker,
                own,
                &[("grant", &fixture.grant), ("decision", "decline")],
            ),
            Page(410),
        ),
        (
            "a form of a page below the service's own host",
            with_header(
                fixture.consent(&fixture.victim, None, &fields),
                "origin",
                &format!("{ORIGIN}.evil.example"),
            ),
            Page(403),
        ),
        (
            "a form of another page of the service's site",
            with_header(
                with_header(fixture.consent(&fixture.victim, None, &fields), "origin", ORIGIN),
                "sec-fetch-site",
                "same-site",
            ),
            Page(403),
        ),
        (
            "a link that agrees",
            fixture.victim.request("GET", &format!("{}?{}", fixture.at("consent"), form(&fields))),
            Problem(405),
        ),
        (
            "consent at another account's endpoint",
            with_form(
                own_page(
                    fixture
                        .victim
                        .request("POST", &format!("/mcp/{}/consent", fixture.other_endpoint)),
                ),
                &form(&fields),
            ),
            Page(410),
        ),
        (
            "two grants in one form",
            fixture.consent(
                &fixture.victim,
                own,
                &[&fields[..], &[("grant", "00000000-0000-4000-8000-000000000000")]].concat(),
            ),
            Error(400, "invalid_request"),
        ),
        (
            "ending the victim's grants from the attacker's browser",
            fixture.consent(&fixture.attacker, own, &[&fields[..], &[("end", &active)]].concat()),
            Page(410),
        ),
        (
            "more parameters than the page has",
            fixture.consent(&fixture.victim, own, &[("platform", "acme"); 201]),
            Error(400, "invalid_request"),
        ),
        ("a forged link", continued(&format!("grant={}", "x".repeat(43))), Page(410)),
        ("the id of a grant as a link", continued(&format!("grant={}", fixture.grant)), Page(410)),
        ("a link without its secret", continued("grant="), Page(410)),
        (
            "the attacker's callback with a forged code",
            fixture.attacker.request("GET", &format!("{}?code=x&state=y", fixture.at("callback"))),
            Page(410),
        ),
    ]
}
