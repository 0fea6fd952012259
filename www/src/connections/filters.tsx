import type { Fault } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Platforms } from "../connectors/platforms";
import { faultAt } from "../parts/faults";
import { SearchField } from "../parts/search";
import { Select } from "../parts/select";
import { IDENTITY_TYPES, MORE, type Asked, type Name } from "./asked";
import { PlatformOptions } from "./platform-options";

/** What is longer than any filter may be can be typed, to be told that it is too long. */
const ROOM = 1_000;

interface Props {
  values: Asked;
  faults: readonly Fault[];
  platforms: Platforms | undefined;
  /** The address without filters; undefined when there are none. */
  clear: string | undefined;
  onChange: (changes: Asked, options?: { replace: boolean }) => void;
}

/** Every filter of the list, each with what is wrong with it. */
export function Filters({ values, faults, platforms, clear, onChange }: Props) {
  const isMoreAsked = MORE.some((name) => values[name] !== undefined);
  const [isOpen, setOpen] = useState(isMoreAsked);
  useEffect(() => {
    if (isMoreAsked) setOpen(true);
  }, [isMoreAsked]);

  const text = (name: Name) => ({
    value: values[name] ?? "",
    fault: faultAt(faults, name),
    maxLength: ROOM,
    onChange: (value: string) => onChange({ [name]: value }, { replace: true }),
  });
  const choice = (name: Name) => ({
    value: values[name] ?? "",
    fault: faultAt(faults, name),
    onChange: (value: string) => onChange({ [name]: value }),
  });
  const isUnknown = values.platform !== undefined && platforms !== undefined && !platforms.byName.has(values.platform.toLowerCase());
  // White space around a comma is for the eye, and a comma at the end is the beginning of one more.
  const told = (items: string) => items.split(",").map((item) => item.trim()).join(",").replace(/,+$/, "");
  return (
    <div class="connection-filters" role="search" aria-label="Connections">
      <PlatformOptions id="platforms-filter" platforms={platforms} />
      <div class="filters">
        <div class="wide"><SearchField label="Search" placeholder="Name or identity begins with…" {...text("q")} /></div>
        <SearchField label="Platform" placeholder="github" list="platforms-filter" hint={isUnknown ? "No platform of the catalog has just this name." : undefined} {...text("platform")} />
        <Select label="Identity type" options={[["", "All types"], ...IDENTITY_TYPES.map((type) => [type, type] as const)]} {...choice("identityType")} />
        <SearchField label="Tags" placeholder="eu, production" told={told} {...text("tags")} maxLength={5 * ROOM} />
        <Select label="With several tags" options={[["", "All of them"], ["any", "Any of them"]]} {...choice("tagsMatch")} />
        <Select label="Active" options={[["", "Active"], ["false", "Inactive"]]} {...choice("active")} />
      </div>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>More filters</summary>
        <div class="filters">
          <SearchField label="Identity" placeholder="Exact" {...text("identity")} />
          <SearchField label="Name" placeholder="Exact, in any case" {...text("name")} />
          <SearchField label="Platform version" placeholder="v1" {...text("platformVersion")} />
          <div class="wide"><SearchField label="Keys" placeholder="test::github::default::ann@example.com, …" told={told} {...text("key")} maxLength={100 * ROOM} /></div>
        </div>
      </details>
      {clear && <Link href={clear}>Clear filters</Link>}
    </div>
  );
}
