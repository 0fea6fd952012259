import type { ComponentChildren } from "preact";

/** A term and its description in a `<dl>`. */
export const DescriptionItem = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
