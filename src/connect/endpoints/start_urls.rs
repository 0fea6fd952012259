//! Visits that start at a platform, such as an installation from its marketplace.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::link::BrowserContext;
use crate::connect::statements;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::{Db, Ports, all_rows, is_recent};
use crate::texts::connect;
use crate::util::sort::sort;

/// The lifetime of cached start URLs, in milliseconds.
const START_URLS_TTL_MS: u64 = 60 * 1000;

/// Caches the start URLs of each shard by its number, with the time of the query.
#[derive(Debug, Default)]
pub struct StartUrlCache(RefCell<BTreeMap<u16, (u64, Vec<StartUrl>)>>);

/// The page of the app from which its users start to connect accounts.
#[derive(Debug, Clone, Deserialize)]
struct StartUrl {
    account: String,
    platform: String,
    url: String,
}

impl<P: Ports> BrowserContext<'_, P> {
    /// The page for a visit that started at the platform, such as an installation from its marketplace. It belongs to no
    /// attempt, so the user has to start again in the app. The code is never exchanged: with a code that has no state, an
    /// attacker could connect their own account for another user.
    pub(super) async fn unsolicited_callback_page(&self) -> Result<Response, Problem> {
        let start_urls = self.start_urls(self.now).await?;
        let paragraphs = [&connect::UNSOLICITED_WHY, &connect::UNSOLICITED_NEXT];
        let mut page = self.page(400, &connect::INCOMPLETE, &paragraphs, &[]);
        // Show no link if the start URLs belong to several accounts: the visit does not name its
        // app.
        if start_urls
            .iter()
            .all(|start| Some(&start.account) == start_urls.first().map(|first| &first.account))
        {
            let mut urls: Vec<&str> = start_urls.iter().map(|start| start.url.as_str()).collect();
            sort(&mut urls);
            urls.dedup();
            let is_one = urls.len() == 1;
            for url in urls {
                let platform = start_urls.iter().find(|start| start.url == url);
                let text = match platform.filter(|_| !is_one) {
                    Some(start) => self
                        .wording
                        .format_text(&connect::START_WITH, &[("platform", &start.platform)]),
                    None => self.wording.format_text(&connect::START_IN_THE_APP, &[]),
                };
                page.links.push((url.to_owned(), text));
            }
        }
        Ok(page.response())
    }

    /// The start URLs of the shard. This endpoint is public, so the database is queried at most once a minute.
    async fn start_urls(&self, now: u64) -> Result<Vec<StartUrl>, Problem> {
        let number = self.ports.number();
        let cached =
            self.starts.0.try_borrow().ok().and_then(|cached| cached.get(&number).cloned());
        if let Some((at, start_urls)) = cached
            && is_recent(now, at, START_URLS_TTL_MS)
        {
            return Ok(start_urls);
        }
        let sets = self.ports.batch(vec![statements::select_start_urls()]).await?;
        let start_urls: Vec<StartUrl> = all_rows(&sets, 0)?;
        if let Ok(mut cached) = self.starts.0.try_borrow_mut() {
            cached.insert(number, (now, start_urls.clone()));
        }
        Ok(start_urls)
    }
}
