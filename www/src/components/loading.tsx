/** Placeholder while data loads. */
export function Loading({ name, rows = 6 }: { name: string; rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {name}…</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
}
