//! Tests of the display names of connectors.

use connector_vault::importer::licence::LicenceFilter;

use super::support::{folder, import_documents, import_sources};

/// Imports documents with a provider or a server, a service, and a title. Returns the platforms and
/// their display names.
fn display_names(name: &str, documents: &[(&str, &str, &str, &str)]) -> Vec<(String, String)> {
    let text = |(provider, service, title, version): &(&str, &str, &str, &str)| {
        let (stated, server) = match provider.strip_prefix("https:") {
            Some(_) => (String::new(), format!("servers: [{{url: '{provider}'}}]\n")),
            None => (format!("  x-providerName: {provider}\n"), String::new()),
        };
        let service = if service.is_empty() {
            String::new()
        } else {
            format!("  x-serviceName: {service}\n")
        };
        format!(
            "openapi: 3.0.0\ninfo:\n  title: \"{title}\"\n  version: '{version}'\n{stated}{service}{server}paths: {{}}\n"
        )
    };
    let texts: Vec<String> = documents.iter().map(text).collect();
    let (summary, platforms) =
        import_documents(name, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(summary.skipped.is_empty(), "{}", summary.full());
    let mut names: Vec<(String, String)> = platforms
        .into_iter()
        .map(|platform| (platform.connector.platform, platform.connector.name))
        .collect();
    names.sort();
    names
}

#[test]
#[rustfmt::skip] // one case per line
fn removes_noise_words_from_titles() {
    for (at, (provider, title, name)) in [
        ("stripe.com", "Stripe API", "Stripe"),
        ("plaid.com", "The Plaid API", "Plaid"),
        ("circleci.com", "CircleCI REST API", "CircleCI"),
        ("cenit.io", "Cenit IO - REST API Specification", "Cenit IO"),
        ("clickmeter.com", "ClickMeter API v2", "ClickMeter"),
        ("schooldigger.com", "SchoolDigger API V2.0", "SchoolDigger"),
        ("meilisearch.com", "Meilisearch v1.1", "Meilisearch"),
        ("ptv.vic.gov.au", "PTV Timetable API - Version 3", "PTV Timetable"),
        ("bigoven.com", "Recipe and Grocery List API (1.0.0)", "Recipe and Grocery List"),
        ("mastodon.local", "Mastodon API Specification (https://github.com/mastodon/mastodon)", "Mastodon"),
        ("rumble.run", "Rumble API (deprecated)", "Rumble"),
        ("ibanapi.com", "IBANAPI OpenApi Documentation", "IBANAPI"),
        ("api2cart.com", "Swagger API2Cart", "API2Cart"),
        ("isendpro.com", "API iSendPro", "iSendPro"),
        ("soundcloud.com", "SoundCloud Public API Specification", "SoundCloud"),
        ("anchore.io", "Anchore Engine API Server", "Anchore Engine"),
        ("pandascore.co", "PandaScore REST API for All Videogames", "PandaScore"),
        ("api2pdf.com", "Api2Pdf - PDF Generation, Powered by AWS Lambda", "Api2Pdf"),
        ("ideal-postcodes.co.uk", "API Reference - Ideal Postcodes", "Ideal Postcodes"),
        ("betfair.com", "Betfair: Exchange Streaming API", "Betfair"),
        ("letmc.com", "LetMC Api V2, Basic (Tier 2)", "LetMC, Basic (Tier 2)"),
        ("gitea.io", "Gitea API.", "Gitea"),
        // The spelling of a brand name is preserved.
        ("apis.guru", "APIs.guru", "APIs.guru"),
        ("exchangerate-api.com", "ExchangeRate-API", "ExchangeRate-API"),
        ("pdfgeneratorapi.com", "PDF Generator API", "PDF Generator API"),
        ("thenounproject.com", "The Noun Project", "The Noun Project"),
        ("api.video", "api.video", "api.video"),
        // If the title is generic, the provider's name is used.
        ("combell.com", "Public Api", "Combell"),
        ("envoice.in", "API v1.0.0", "Envoice"),
        ("journy.io", "Developer documentation", "Journy"),
        ("peoplegenerator.live", "OpenAPI definition", "Peoplegenerator"),
        ("ipinfodb.com", "", "Ipinfodb"),
        // A title that is a host name is not used.
        ("clarify.io", "api.clarify.io", "clarify.io"),
        ("https://api-m.sandbox.paypal.com", "API", "PayPal"),
        ("https://api-m.sandbox.paypal.com", "Orders", "PayPal Orders"),
        ("https://connect.squareup.com/v2", "API", "Square"),
        ("https://connect.acme-pay.com/v2", "REST API v2", "Acme Pay"),
    ].iter().enumerate() {
        let names = display_names(&format!("title-{at}"), &[(provider, "", title, "1")]);
        assert_eq!(names[0].1, *name, "{provider}: {title}");
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn names_the_services_of_a_provider() {
    for (at, (provider, service, title, name)) in [
        ("github.com", "api.github.com", "GitHub v3 REST API", "GitHub"),
        ("github.com", "ghes-3.8", "GitHub v3 REST API", "GitHub Enterprise Server 3.8"),
        ("github.com", "github.ae", "GitHub v3 REST API", "GitHub AE"),
        ("twilio.com", "api", "Twilio - Api", "Twilio"),
        ("twilio.com", "twilio_verify_v2", "Twilio - Verify", "Twilio Verify"),
        ("twilio.com", "twilio_ip_messaging_v2", "Twilio - Ip_messaging", "Twilio IP Messaging"),
        ("adyen.com", "CheckoutService-v71", "Adyen Checkout API", "Adyen Checkout"),
        ("ebay.com", "sell-account", "Account API", "eBay Account"),
        ("ote-godaddy.com", "domains", "", "GoDaddy Domains"),
        ("import.io", "rss", "import.io", "import.io RSS"),
        ("sportsdata.io", "nba-v3-stats", "NBA v3 Stats", "SportsDataIO NBA Stats"),
        ("hubapi.com", "files", "Files Files", "HubSpot Files"),
        ("amazonaws.com", "ec2", "Amazon Elastic Compute Cloud", "Amazon EC2"),
        ("amazonaws.com", "lambda", "AWS Lambda", "AWS Lambda"),
        ("amazonaws.com", "swf", "Amazon Simple Workflow Service", "Amazon Simple Workflow Service"),
        ("amazonaws.com", "billingconductor", "AWSBillingConductor", "AWS Billing Conductor"),
        ("amazonaws.com", "elasticloadbalancingv2", "Elastic Load Balancing", "AWS Elastic Load Balancing V2"),
        ("googleapis.com", "calendar", "Calendar API", "Google Calendar"),
        ("googleapis.com", "gmail", "Gmail API", "Gmail"),
        ("googleapis.com", "clouddebugger", "Cloud Debugger API (Deprecated)", "Google Cloud Debugger"),
        ("azure.com", "sql-elasticPools", "SqlManagementClient", "Azure SQL Elastic Pools"),
        ("azure.com", "apimanagement-apimidentityprovider", "ApiManagementClient", "Azure API Management Identity Provider"),
        ("azure.com", "network-virtualNetworkGateway", "NetworkManagementClient", "Azure Virtual Network Gateway"),
        ("azure.com", "monitor-metrics_API", "MonitorManagementClient", "Azure Monitor Metrics"),
        ("azure.com", "azsadmin-Drive", "FabricAdminClient", "Azure Stack Fabric Drive"),
        ("azure.com", "web-ResourceProvider", " API Client", "Azure App Service Resource Provider"),
        ("azure.com", "datamigration", "Azure Data Migration Service Resource Provider", "Azure Data Migration"),
        ("microsoft.com", "cognitiveservices-WebSearch", "Web Search Client", "Microsoft Web Search"),
    ].iter().enumerate() {
        let names = display_names(&format!("part-{at}"), &[(provider, service, title, "1")]);
        assert_eq!(names[0].1, *name, "{provider} {service}: {title}");
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn disambiguates_equal_names() {
    for (name, documents, expected) in [
        ("titles", vec![("visma.com", "", "Net API", "1"), ("eos.com", "", "Net API", "1")], vec!["Eos", "Visma"]),
        ("providers", vec![("one.com", "", "Moon API", "1"), ("two.com", "", "Moon API", "1")], vec!["One Moon", "Two Moon"]),
        ("one says it", vec![("moon.com", "", "Moon API", "1"), ("two.com", "", "Moon API", "1")], vec!["Moon", "Two Moon"]),
        ("versions", vec![("twilio.com", "twilio_chat_v1", "Twilio - Chat", "1.55"), ("twilio.com", "twilio_chat_v2", "Twilio - Chat", "1.55"), ("twilio.com", "twilio_chat_v3", "Twilio - Chat", "1.55")], vec!["Twilio Chat V1", "Twilio Chat V2", "Twilio Chat"]),
        ("years", vec![("azure.com", "servicebus", "ServiceBusManagementClient", "2017-04-01"), ("azure.com", "servicebus-servicebus-preview", "ServiceBusManagementClient", "2018-01-01-preview")], vec!["Azure Service Bus 2017", "Azure Service Bus"]),
        ("services", vec![("acme.com", "a", "Store of all", "1"), ("acme.com", "b", "Store of all", "1")], vec!["Acme Store of all A", "Acme Store of all B"]),
        ("same version", vec![("acme.com", "", "Acme", "1"), ("acme.net", "", "Acme", "1")], vec!["Acme", "Acme (acme-net)"]),
    ] {
        let forward = display_names(&format!("apart {name}"), &documents);
        let back: Vec<_> = documents.iter().rev().copied().collect();
        assert_eq!(forward, display_names(&format!("apart {name}"), &back), "{name}: the order of files must not matter");
        let names: Vec<&str> = forward.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, expected, "{name}");
    }
}

#[test]
fn an_assigned_name_is_kept_and_colliding_names_change() {
    let folder = folder("chosen");
    for (file, title) in [("one", "Ann"), ("two", "Ben"), ("three", "Cat")] {
        let text = format!(
            "openapi: 3.0.0\ninfo: {{title: {title}, version: 1, x-providerName: {file}.com}}\npaths: {{}}\n"
        );
        std::fs::write(folder.join(format!("{file}.yaml")), text).unwrap();
    }
    let toml = "[platforms.two]\nname = 'Ann'\n[platforms.three]\nname = 'ANN'\n";
    let (_, platforms) = import_sources(&[folder.to_str().unwrap()], LicenceFilter::Any, toml);
    let names: Vec<&str> =
        platforms.iter().map(|platform| platform.connector.name.as_str()).collect();
    assert_eq!(names, ["One Ann", "ANN", "Ann"]);
}

#[test]
#[rustfmt::skip] // one case per line
fn derives_categories_of_large_providers() {
    for (at, (provider, service, title, category)) in [
        ("googleapis.com", "calendar", "Calendar API", "Time Management"),
        ("googleapis.com", "sheets", "Google Sheets API", "Collaboration"),
        ("googleapis.com", "admob", "AdMob API", "Marketing"),
        ("googleapis.com", "analytics", "Google Analytics API", "Analytics"),
        ("googleapis.com", "youtube", "YouTube Data API v3", "Media"),
        ("googleapis.com", "vmmigration", "VM Migration API", "Cloud"),
        ("amazonaws.com", "s3", "Amazon Simple Storage Service", "Storage"),
        ("amazonaws.com", "sesv2", "Amazon Simple Email Service", "Email"),
        ("amazonaws.com", "iotanalytics", "AWS IoT Analytics", "IoT"),
        ("amazonaws.com", "guardduty", "Amazon GuardDuty", "Security"),
        ("amazonaws.com", "ec2", "Amazon Elastic Compute Cloud", "Cloud"),
        ("azure.com", "keyvault", "KeyVaultClient", "Security"),
        ("azure.com", "sql-firewallRules", "SqlManagementClient", "Cloud"),
        ("azure.com", "monitor-metrics_API", "MonitorManagementClient", "Monitoring"),
        ("microsoft.com", "cognitiveservices-ComputerVision", "Computer Vision Client", "Machine Learning"),
        ("acme.com", "calendar", "Calendar API", "Analytics"),
    ].iter().enumerate() {
        let document = format!("openapi: 3.0.0\ninfo: {{title: '{title}', version: v1, x-providerName: {provider}, x-serviceName: {service}, x-apisguru-categories: [analytics]}}\npaths: {{}}\n");
        let (_, platforms) = import_documents(&format!("service-{at}"), &[&document]);
        assert_eq!(platforms[0].connector.category, *category, "{provider} {service}");
    }
}
