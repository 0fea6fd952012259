import type { Fault } from "connector-vault/slim";
import { SlidersHorizontal } from "lucide-preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { STATES } from "../components/badge";
import { findFaultMessage } from "../components/faults";
import { SearchField } from "../components/search-field";
import { Select } from "../components/select";
import { PlatformField } from "../connectors/platform-field";
import { findPlatform, type Platforms } from "../connectors/platforms";
import { useSession } from "../session/session";
import { BASIC_FILTERS, IDENTITY_TYPES, EXTRA_FILTERS, type FilterValues, type ParameterName } from "./filters";

/** Longer than any valid filter, so that validation can report input that is too long. */
const MAX_INPUT_LENGTH = 1_000;
/** A single letter matches too many rows for a search on each keystroke. */
const MIN_SEARCH_LENGTH = 2;

interface Props {
  values: FilterValues;
  faults: readonly Fault[];
  platforms: Platforms | undefined;
  /** URL of the list without filters. Undefined if no filter is set. */
  clearHref: string | undefined;
  onChange: (changes: FilterValues, options?: { replace: boolean }) => void;
}

/**
 * All filters of the list with their validation errors. Small screens show only the search until the user presses "More
 * filters".
 */
export function FilterBar({ values, faults, platforms, clearHref, onChange }: Props) {
  const { may } = useSession();
  const id = useId();
  const hasExtraFilter = EXTRA_FILTERS.some((name) => values[name] !== undefined);
  const [isOpen, setOpen] = useState(hasExtraFilter);
  useEffect(() => {
    if (hasExtraFilter) setOpen(true);
  }, [hasExtraFilter]);

  const text = (name: ParameterName) => ({
    value: values[name] ?? "",
    fault: findFaultMessage(faults, name),
    maxLength: MAX_INPUT_LENGTH,
    onChange: (value: string) => onChange({ [name]: value }, { replace: true }),
  });
  const select = (name: ParameterName) => ({
    value: values[name] ?? "",
    fault: findFaultMessage(faults, name),
    onChange: (value: string) => onChange({ [name]: value }),
  });
  const hasSeveralTags = values.tags?.includes(",") || values.tagsMatch !== undefined;
  const hiddenFilters = BASIC_FILTERS.filter(
    (name) => name !== "q" && name !== "tagsMatch" && values[name] !== undefined,
  ).length;
  // Removes spaces around commas, and trailing commas.
  const normalizeList = (items: string) =>
    items
      .split(",")
      .map((item) => item.trim())
      .join(",")
      .replace(/,+$/, "");
  return (
    <div class="connection-filters" role="search" aria-label="Connections" data-open={isOpen || undefined}>
      <div class="search">
        <SearchField
          label="Search"
          placeholder="Name or identity begins with…"
          minLength={MIN_SEARCH_LENGTH}
          {...text("q")}
        />
      </div>
      <div class="basic-filters" id={`${id}-basic`}>
        {may("catalog:read") ? (
          <PlatformFilter platforms={platforms} {...select("platform")} />
        ) : (
          <SearchField label="Platform" placeholder="github" {...text("platform")} />
        )}
        <Select
          label="State"
          options={[["", "All states"], ...STATES.map((state) => [state, state] as const)]}
          {...select("state")}
        />
        <Select
          label="Active"
          options={[
            ["", "Active"],
            ["false", "Inactive"],
            ["all", "All"],
          ]}
          {...select("active")}
        />
        <Select
          label="Identity type"
          options={[["", "All types"], ...IDENTITY_TYPES.map((type) => [type, type] as const)]}
          {...select("identityType")}
        />
        <SearchField
          label="Tags"
          placeholder="eu, production"
          normalize={normalizeList}
          {...text("tags")}
          maxLength={5 * MAX_INPUT_LENGTH}
        />
        {hasSeveralTags && (
          <Select
            label="Match"
            options={[
              ["", "All tags"],
              ["any", "Any tag"],
            ]}
            {...select("tagsMatch")}
          />
        )}
      </div>
      <div class="extra-filters" id={`${id}-extra`} hidden={!isOpen}>
        <SearchField label="Identity" placeholder="Exact match" {...text("identity")} />
        <SearchField label="Account" placeholder="Exact ID at the platform" {...text("account")} />
        <SearchField label="Name" placeholder="Exact match, ignoring case" {...text("name")} />
        <SearchField label="Platform version" placeholder="v1" {...text("platformVersion")} />
        <div class="wide">
          <SearchField
            label="Keys"
            placeholder="test::github::default::ann@example.com, …"
            normalize={normalizeList}
            {...text("key")}
            maxLength={100 * MAX_INPUT_LENGTH}
          />
        </div>
      </div>
      <div class="filter-buttons">
        <button
          type="button"
          class="more-filters"
          aria-expanded={isOpen}
          aria-controls={`${id}-basic ${id}-extra`}
          onClick={() => setOpen(!isOpen)}
        >
          <SlidersHorizontal size={16} aria-hidden="true" />{" "}
          <span>
            <span class="more-filters-verb">{isOpen ? "Fewer " : "More "}</span>filters
          </span>
          {hiddenFilters > 0 && !isOpen && (
            <span class="badge" data-tone="info">
              {hiddenFilters}
              <span class="visually-hidden"> in use</span>
            </span>
          )}
        </button>
        {clearHref && (
          <Link class="clear-filters" href={clearHref}>
            Clear filters
          </Link>
        )}
      </div>
    </div>
  );
}

interface PlatformProps {
  value: string;
  platforms: Platforms | undefined;
  fault: string | undefined;
  onChange: (platform: string) => void;
}

/** A filter that applies a platform when it is selected or typed in full. Reports any other text as an error. */
function PlatformFilter({ value, platforms, fault, onChange }: PlatformProps) {
  const [input, setInput] = useState(value);
  const [lastReported, setReported] = useState(value);
  // The URL has changed, for example because of the back button.
  if (value !== lastReported) {
    setReported(value);
    setInput(value);
  }
  const commit = (text: string) => {
    setInput(text);
    setReported(text);
    onChange(text);
  };
  const handleInput = (text: string) => {
    setInput(text);
    if (text.trim() === "") commit("");
  };
  const commitIfPlatform = () => {
    const platform = findPlatform(platforms, input)?.platform;
    if (platform !== undefined && input !== value) commit(platform);
  };
  // Without the catalog, leave the validation to the service.
  const commitText = () => (platforms === undefined ? commit(input.trim()) : commitIfPlatform());
  return (
    <PlatformField
      label="Platform"
      text={input}
      platforms={platforms}
      fault={fault}
      onInput={handleInput}
      onChoose={commit}
      onEnter={commitText}
      onLeave={commitIfPlatform}
    />
  );
}
