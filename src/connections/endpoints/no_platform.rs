//! A new connection to a platform that the catalog does not have.

use crate::auth::restriction::has_platform;
use crate::catalog::cache::CatalogCache;
use crate::catalog::reader::Catalog;
use crate::http::body::BodyReader;
use crate::http::fields::unknown_platform;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::util::name_set::Names;

/// A new connection to a platform that the catalog does not have.
#[derive(Debug)]
pub struct NoPlatform<'a> {
    /// The body, whose faults are not reported yet.
    pub body: BodyReader,
    /// The platform, in lower case.
    pub platform: String,
    /// The platforms that the token may see; `None` for all of them.
    pub platforms: Option<&'a Names>,
}

/// What a plan for a new connection comes to, by its platform.
pub enum OfPlatform<'a, T> {
    /// The catalog has the platform, or the body names none.
    Known(T),
    /// The catalog does not have it.
    Unknown(NoPlatform<'a>),
}

impl NoPlatform<'_> {
    /// Refuses the body.
    ///
    /// # Errors
    /// With all of its faults, one of them with the platform that may have been meant; `unavailable` when the catalog can't
    /// be read.
    pub async fn answer<P: Ports>(
        self,
        catalog: &CatalogCache,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let Self { body, platform, platforms } = self;
        let known = Catalog::open(catalog, ports).await?.platforms().await?;
        let known = known.lines().filter(|known| has_platform(platforms, known));
        let (what, meant) = unknown_platform(&platform, known);
        Err(body.refuse(&["platform"], &what, meant))
    }
}
