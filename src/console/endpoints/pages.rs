//! The pages of the sign-in to the console. Each explains what happened and what to do next.

use super::ConsoleContext;
use crate::connect::endpoints::pages::Page;
use crate::console::sign_in::{SignIn, address};
use crate::http::message::Response;
use crate::ports::Ports;

fn page(status: u16, heading: &str, paragraphs: &[&str]) -> Page {
    Page {
        heading: heading.to_owned(),
        paragraphs: paragraphs.iter().map(|text| (*text).to_owned()).collect(),
        links: vec![("/".to_owned(), "Go to the console".to_owned())],
        status,
        ..Page::default()
    }
}

pub(super) fn unknown_page() -> Page {
    page(
        404,
        "This sign-in does not exist",
        &[
            "The address is incomplete, or the sign-in was switched off.",
            "Ask the people who manage your account for the address, or sign in with an API key.",
        ],
    )
}

pub(super) fn key_ended_page() -> Page {
    page(
        403,
        "This sign-in has ended",
        &[
            "The API key with which it was configured has expired or was revoked.",
            "Ask the people who manage your account to configure the sign-in again with a valid API key.",
        ],
    )
}

impl<P: Ports> ConsoleContext<'_, P> {
    /// A page with a link for signing in again.
    fn retry_page(&self, status: u16, heading: &str, paragraphs: &[&str]) -> Page {
        let retry_link = (address(self.base, self.id), "Sign in again".to_owned());
        Page { links: vec![retry_link], ..page(status, heading, paragraphs) }
    }

    /// The page that asks the person to confirm the sign-in to this account.
    pub(super) fn start_page(&self, sign_in: &SignIn) -> Response {
        let heading = format!("Sign in to {}", sign_in.account);
        let environment = sign_in.environment.as_str();
        let explanation = format!(
            "You sign in at {}, and continue in the console, in the {environment} environment of the account {}.",
            sign_in.host(),
            sign_in.account
        );
        let warning = "Continue only if you know this account: what you enter in the console will be stored there.";
        let page = Page {
            button: Some((
                format!("/sign-in/{}", self.id),
                format!("Sign in with {}", sign_in.host()),
            )),
            links: Vec::new(),
            ..page(200, &heading, &[&explanation, warning])
        };
        page.response()
    }

    pub(super) fn expired_page(&self) -> Page {
        self.retry_page(
            410,
            "This sign-in is no longer valid",
            &[
                "It took longer than 10 minutes, was started in another browser, or the settings of the sign-in have changed.",
            ],
        )
    }

    pub(super) fn denied_page(&self, sign_in: &SignIn) -> Page {
        let explanation =
            format!("{} did not sign you in: you cancelled, or have no access.", sign_in.host());
        let advice = "If you should have access, contact the people who manage it there.";
        self.retry_page(403, "You are not signed in", &[&explanation, advice])
    }

    pub(super) fn no_role_page(&self, sign_in: &SignIn, person: &str) -> Page {
        let explanation = format!(
            "{} has signed you in as {person}, but you have no role in the account {}.",
            sign_in.host(),
            sign_in.account
        );
        let advice =
            "Ask the people who manage your account to give you a role, then sign in again.";
        self.retry_page(403, "You have no access", &[&explanation, advice])
    }

    pub(super) fn not_behind_access_page(&self, sign_in: &SignIn) -> Page {
        let explanation = format!("{} has not confirmed who you are.", sign_in.host());
        let advice = "Open the console at the address that Cloudflare Access protects. If you have, ask the people who manage your account to compare the team domain and the audience of the sign-in with those of the Access application.";
        self.retry_page(403, "You are not signed in", &[&explanation, advice])
    }

    /// The page shown if the provider fails or responds incorrectly. `reason` is only logged.
    pub(super) fn unavailable_page(&self, sign_in: &SignIn, reason: &str) -> Response {
        let explanation = format!("Signing in at {} does not work at the moment.", sign_in.host());
        let advice = "Try again later. If that does not help, ask the people who manage your account to check the settings of the sign-in.";
        let page = self.retry_page(503, "You can't sign in at the moment", &[&explanation, advice]);
        let log = Some(format!("sign-in to the console: {reason}"));
        Response { log, ..page.response() }
    }
}
