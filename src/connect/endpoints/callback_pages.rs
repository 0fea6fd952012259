//! The pages shown after the redirect from a platform.

use super::failure::{AttemptFailure, next_step, reason};
use super::link::{BrowserContext, final_return_url};
use super::pages::{Notification, Page};
use crate::connect::attempt::{Attempt, AttemptErrorCode, Status, StoredStatus};
use crate::connect::rules::origin;
use crate::http::message::{Request, Response};
use crate::ports::Ports;
use crate::texts::connect;

impl<P: Ports> BrowserContext<'_, P> {
    pub(super) fn invalid_callback_page(&self) -> Page {
        let paragraphs = [&connect::UNREADABLE_WHY, &connect::START_AGAIN];
        self.page(400, &connect::INCOMPLETE, &paragraphs, &[])
    }

    /// The page shown if the user opens the callback again, for example with the back button.
    pub(super) fn repeated_callback_page(
        &self,
        request: &Request,
        attempt: &Attempt,
        name: &str,
    ) -> Response {
        match attempt.status(self.now) {
            Status::Succeeded => self.succeeded_page(request, attempt, name),
            Status::Failed { code, detail } => {
                let code = code.parse().unwrap_or(AttemptErrorCode::Interrupted);
                self.failed_page(request, attempt, (name, None), &AttemptFailure { code, detail })
            }
            Status::Pending if attempt.status == StoredStatus::Exchanging => {
                let page = self.page(409, &connect::ONE_MOMENT, &[&connect::IN_ANOTHER_TAB], &[]);
                self.with_return_link(page, attempt).response()
            }
            Status::Pending | Status::Expired => {
                self.with_return_link(self.link_expired_page(), attempt).response()
            }
        }
    }

    pub(super) fn succeeded_page(
        &self,
        request: &Request,
        attempt: &Attempt,
        name: &str,
    ) -> Response {
        let (paragraphs, values) = ([&connect::CONNECTED_NEXT], [("platform", name)]);
        let mut page = self.page(200, &connect::CONNECTED, &paragraphs, &values);
        page.notification = Some(notification(request, attempt, "succeeded"));
        self.with_return_link(page, attempt).response()
    }

    pub(super) fn failed_page(
        &self,
        request: &Request,
        attempt: &Attempt,
        (name, retry_url): (&str, Option<String>),
        failure: &AttemptFailure,
    ) -> Response {
        let heading = match failure.code {
            AttemptErrorCode::Denied => &connect::NOT_CONNECTED,
            _ => &connect::COULD_NOT_CONNECT,
        };
        // With a return URL, the app shows the failure itself.
        let retry_url = retry_url.filter(|_| attempt.return_url.is_none());
        let paragraphs = [reason(failure.code), next_step(failure.code, retry_url.is_some())];
        let mut page = self.page(200, heading, &paragraphs, &[("platform", name)]);
        // The detail is in English. It is more precise than the translated text, and can contain
        // the platform's own message.
        let is_repeated_detail = page.paragraphs.first() == Some(&failure.detail);
        page.detail = Some(failure.detail.clone()).filter(|_| !is_repeated_detail);
        page.notification = Some(notification(request, attempt, "failed"));
        page.links
            .extend(retry_url.map(|url| (url, self.wording.format_text(&connect::TRY_AGAIN, &[]))));
        self.with_return_link(page, attempt).response()
    }
}

fn notification(request: &Request, attempt: &Attempt, status: &'static str) -> Notification {
    // Without a return URL, the connect window of this service opened the platform's page, so it
    // receives the message.
    let origin = attempt.return_url.as_deref().map_or_else(|| request.origin.clone(), origin);
    Notification {
        attempt: attempt.id.clone(),
        status,
        origin,
        return_url: final_return_url(attempt),
    }
}
