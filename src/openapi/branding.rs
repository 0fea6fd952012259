//! The endpoints for the branding.

use serde_json::{Value, json};

use super::bodies::body;
use super::endpoint_doc::{Body, CONNECTING, EndpointDoc};
use super::schema::{record, text_or_null, time_or_null};
use crate::branding::rules::MAX_LOGO_BYTES;
use crate::http::fields::BRANDING_FIELDS;

/// An example body that sets the branding. The image has a single pixel.
pub const BRANDING_EXAMPLES: [(&str, &str, &str); 1] = [(
    "branding",
    "A name, a logo, a colour and an address",
    r##"{"name":"Acme","logo":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
            "color":"#1a2b3c","url":"https://app.example.com"}"##,
)];

pub const GET: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Get the branding",
    description: "Returns how your app is presented to its users in the connect window and on the pages around it, on the consent and approval pages of agents, and on download pages. A member that is `null` has the value of the service's configuration.",
    response: "The branding.",
    schema: Some("Branding"),
    body: None,
    address: "/v1/branding",
    script: "\
const { name, color } = await vault.branding.get();
console.log(name, color);
",
};

pub const SET: EndpointDoc = EndpointDoc {
    tag: CONNECTING,
    summary: "Set the branding",
    description: "Replaces how your app is presented to its users, in this account and environment. A member that you omit, or that is `null`, falls back to the service's configuration. The service stores the logo and serves it itself, so that the pages load nothing from another site.",
    response: "The branding.",
    schema: Some("Branding"),
    body: Some(Body { schema: "NewBranding", examples: &BRANDING_EXAMPLES, sample: 0 }),
    address: "/v1/branding",
    script: "\
import { readFile } from \"node:fs/promises\";

const image = await readFile(\"logo.png\", \"base64\");
const branding = await vault.branding.set({
  name: \"Acme\",
  logo: `data:image/png;base64,${image}`,
  color: \"#1a2b3c\",
  url: \"https://app.example.com\",
});
console.log(branding.updatedAt);
",
};

/// The schema of a logo.
pub fn logo() -> Value {
    let longest = "data:image/webp;base64,".len() + MAX_LOGO_BYTES.div_ceil(3) * 4;
    json!({
        "type": ["string", "null"],
        "maxLength": u64::try_from(longest).unwrap(),
        "pattern": "^data:image/(png|webp);base64,",
    })
}

pub fn color() -> Value {
    json!({"type": ["string", "null"], "pattern": "^#[0-9A-Fa-f]{6}$"})
}

fn branding() -> Value {
    record(
        "How an app is presented to its users. A member that is `null` has the value of the service's configuration.",
        vec![
            ("name", text_or_null("The app's name.")),
            ("logo", text_or_null("Its logo, as a `data:` URL.")),
            ("color", text_or_null("The colour of buttons and links, such as `#1a2b3c`.")),
            (
                "url",
                text_or_null(
                    "The app's address, which pages link to when an attempt has no `returnUrl`.",
                ),
            ),
            ("updatedAt", time_or_null("When it was last set; `null` if it never was.")),
        ],
    )
}

fn new_branding() -> Value {
    body("How your app is presented to its users.", &BRANDING_FIELDS, &json!({}))
}

pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("Branding", branding()), ("NewBranding", new_branding())]
}
