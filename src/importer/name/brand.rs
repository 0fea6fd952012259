//! Providers whose documents describe parts of one product, and the spelling of words in service
//! names.

/// A provider whose name precedes the names of its connectors.
#[derive(Debug)]
pub struct Brand {
    /// `x-providerName`
    provider: &'static str,
    /// The name of the brand in its own spelling.
    pub name: &'static str,
}

/// The brand of a provider. Returns `None` if the titles of its documents are sufficient.
pub fn find(provider: &str) -> Option<&'static Brand> {
    let provider = provider.trim().to_ascii_lowercase();
    let is_below = |domain: &str| {
        let host = provider.strip_suffix(domain);
        host.is_some_and(|host| host.is_empty() || host.ends_with('.'))
    };
    BRANDS.iter().find(|brand| is_below(brand.provider))
}

const fn brand(provider: &'static str, name: &'static str) -> Brand {
    Brand { provider, name }
}

const BRANDS: &[Brand] = &[
    brand("1password.com", "1Password"),
    brand("1password.local", "1Password"),
    brand("ably.io", "Ably"),
    brand("ably.net", "Ably"),
    brand("abstractapi.com", "Abstract"),
    brand("adyen.com", "Adyen"),
    brand("amadeus.com", "Amadeus"),
    brand("amentum.space", "Amentum"),
    brand("apache.org", "Apache"),
    brand("apideck.com", "Apideck"),
    brand("apigee.local", "Apigee"),
    brand("appwrite.io", "Appwrite"),
    brand("archive.org", "Internet Archive"),
    brand("bluemix.net", "IBM"),
    brand("box.com", "Box"),
    brand("citrixonline.com", "Citrix Online"),
    brand("codat.io", "Codat"),
    brand("deutschebahn.com", "Deutsche Bahn"),
    brand("digitallocker.gov.in", "DigiLocker"),
    brand("docker.com", "Docker"),
    brand("ebay.com", "eBay"),
    brand("fraudlabspro.com", "FraudLabs Pro"),
    brand("fungenerators.com", "Fun Generators"),
    brand("funtranslations.com", "FunTranslations"),
    brand("gamesparks.net", "GameSparks"),
    brand("github.com", "GitHub"),
    brand("google.com", "Google"),
    brand("googleapis.com", "Google"),
    brand("haloapi.com", "Halo"),
    brand("here.com", "HERE"),
    brand("hsbc.com", "HSBC"),
    brand("hubapi.com", "HubSpot"),
    brand("import.io", "import.io"),
    brand("intel.com", "Intel"),
    brand("interzoid.com", "Interzoid"),
    brand("izettle.com", "Zettle"),
    brand("klarna.com", "Klarna"),
    brand("lufthansa.com", "Lufthansa"),
    brand("mastercard.com", "Mastercard"),
    brand("mercedes-benz.com", "Mercedes-Benz"),
    brand("mozilla.com", "Mozilla"),
    brand("nasa.gov", "NASA"),
    brand("ndhm.gov.in", "NDHM"),
    brand("nexmo.com", "Vonage"),
    brand("npr.org", "NPR"),
    brand("nrel.gov", "NREL"),
    brand("nytimes.com", "The New York Times"),
    brand("o2.cz", "O2"),
    brand("onsched.com", "OnSched"),
    brand("openbanking.org.uk", "Open Banking"),
    brand("opto22.com", "Opto 22"),
    brand("ote-godaddy.com", "GoDaddy"),
    brand("parliament.uk", "UK Parliament"),
    brand("paypal.com", "PayPal"),
    brand("personio.de", "Personio"),
    brand("postmarkapp.com", "Postmark"),
    brand("presalytics.io", "Presalytics"),
    brand("quicksold.co.uk", "Quicksold"),
    brand("redeal.io", "Redeal"),
    brand("redhat.com", "Red Hat"),
    brand("seldon.local", "Seldon"),
    brand("slack.com", "Slack"),
    brand("sportsdata.io", "SportsDataIO"),
    brand("spotify.com", "Spotify"),
    brand("squareup.com", "Square"),
    brand("ticketmaster.com", "Ticketmaster"),
    brand("tomtom.com", "TomTom"),
    brand("twilio.com", "Twilio"),
    brand("twitter.com", "Twitter"),
    brand("uspto.gov", "USPTO"),
    brand("va.gov", "VA"),
    brand("vmware.local", "VMware"),
    brand("vonage.com", "Vonage Business"),
    brand("vtex.local", "VTEX"),
    brand("walmart.com", "Walmart"),
    brand("whapi.com", "William Hill"),
    brand("wmata.com", "WMATA"),
    brand("xero.com", "Xero"),
];

/// The usual spelling of a word, or the capitalized word: `sql` → `SQL`, `elastic` → `Elastic`.
pub fn word(word: &str) -> String {
    spelling(word).map_or_else(
        || {
            let mut letters = word.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
        },
        str::to_owned,
    )
}

/// The usual spelling of a word. Returns `None` for words that are only capitalized.
pub fn spelling(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let at = WORDS.binary_search_by_key(&lower.as_str(), |(word, _)| *word).ok()?;
    WORDS.get(at).map(|(_, spelling)| *spelling)
}

/// Words with their usual spelling, in alphabetical order.
const WORDS: &[(&str, &str)] = &[
    ("ad", "AD"),
    ("ae", "AE"),
    ("ai", "AI"),
    ("and", "and"),
    ("api", "API"),
    ("apis", "APIs"),
    ("ats", "ATS"),
    ("bulkexports", "Bulk Exports"),
    ("by", "by"),
    ("cdn", "CDN"),
    ("cms", "CMS"),
    ("crm", "CRM"),
    ("ddos", "DDoS"),
    ("dns", "DNS"),
    ("dsc", "DSC"),
    ("dtl", "DTL"),
    ("ea", "EA"),
    ("fqdn", "FQDN"),
    ("ghes", "Enterprise Server"),
    ("hana", "HANA"),
    ("hsm", "HSM"),
    ("iot", "IoT"),
    ("ip", "IP"),
    ("jit", "JIT"),
    ("kms", "KMS"),
    ("luis", "LUIS"),
    ("mac", "MAC"),
    ("ml", "ML"),
    ("nat", "NAT"),
    ("oauth", "OAuth"),
    ("ocr", "OCR"),
    ("of", "of"),
    ("pos", "POS"),
    ("qrcode", "QR Code"),
    ("rss", "RSS"),
    ("sap", "SAP"),
    ("skus", "SKUs"),
    ("slb", "SLB"),
    ("sms", "SMS"),
    ("sql", "SQL"),
    ("supersim", "Super SIM"),
    ("taskrouter", "TaskRouter"),
    ("tde", "TDE"),
    ("trusthub", "Trust Hub"),
    ("uuid", "UUID"),
    ("vm", "VM"),
    ("vmss", "VM Scale Set"),
    ("wan", "WAN"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(BRANDS.is_sorted_by_key(|brand| brand.provider));
        assert!(WORDS.is_sorted_by_key(|(word, _)| *word));
        assert_eq!(word("sql"), "SQL");
        assert_eq!(word("elastic"), "Elastic");
    }
}
