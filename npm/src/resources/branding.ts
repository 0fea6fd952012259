// The branding that users of an app see.
import { Call } from "glue";
import { serializeBody } from "../core/arguments.js";
import type { Fault } from "../core/errors.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";

/** The branding that users of your app see. For a null member, the service's configuration applies. */
export interface Branding {
  name: string | null;
  /** A `data:` URL. */
  logo: string | null;
  /** The colour of buttons and links, such as `#1a2b3c`. */
  color: string | null;
  url: string | null;
  /** When the branding was last set (RFC 3339); null if never. */
  updatedAt: string | null;
}

/** A branding to set. Omitted and null members use the service's configuration. */
export interface NewBranding {
  /** 1–60 visible characters. */
  name?: string | null | undefined;
  /** A PNG or WebP image of at most 32 KiB and 1024 × 1024 pixels, as a `data:` URL. */
  logo?: string | null | undefined;
  /** The colour of buttons and links, such as `#1a2b3c`. */
  color?: string | null | undefined;
  /** An `https` URL. */
  url?: string | null | undefined;
}

/** The branding of the account and environment. Needs the scope `clients:read`; changes need `clients:write`. */
export interface Brandings {
  get(options?: CallOptions): Promise<Branding>;
  /** Replaces the branding, and returns it. */
  set(branding: NewBranding, options?: CallOptions): Promise<Branding>;
  /** Returns the validation errors of `set` without a request; an empty array if there are none. */
  validateSet(branding: NewBranding): readonly Fault[];
}

const isBranding = (json: unknown) => (json as Partial<Branding> | null)?.updatedAt !== undefined;

/** @internal */
export function brandings(executor: Executor): Brandings {
  const buildSet = (branding: NewBranding) => () =>
    Call.of("setBranding", [], "", ...serializeBody(branding, "branding"));
  return {
    get: async (options) => executor.send(() => Call.of("getBranding", []), checkCallOptions(options), isBranding),
    set: async (branding, options) => executor.send(buildSet(branding), checkCallOptions(options), isBranding),
    validateSet: (branding) => executor.validate(buildSet(branding)),
  };
}
