/** Placeholder while data loads. */
export function Loading({ what, rows = 6 }: { what: string; rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {what}…</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
}
