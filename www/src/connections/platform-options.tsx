import { useMemo } from "preact/hooks";
import type { Platforms } from "../connectors/platforms";

/** Suggestions for a field that takes a platform. */
export function PlatformOptions({ id, platforms }: { id: string; platforms: Platforms | undefined }) {
  const options = useMemo(
    () => platforms && [...platforms.byName.values()].map(({ platform, name }) => <option key={platform} value={platform}>{name}</option>),
    [platforms],
  );
  return <datalist id={id}>{options}</datalist>;
}
