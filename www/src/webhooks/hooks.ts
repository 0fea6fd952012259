import { useQuery, useQueryClient } from "@tanstack/preact-query";
import type { Webhook } from "connector-vault/slim";
import { useSession } from "../session/session";

const WEBHOOKS_KEY = ["webhooks"];

/** Loads all webhooks, oldest first. */
export function useWebhooks(isEnabled = true) {
  const { vault } = useSession();
  return useQuery<Webhook[]>({
    queryKey: WEBHOOKS_KEY,
    enabled: isEnabled,
    queryFn: ({ signal }) => vault.webhooks.list({ signal }),
  });
}

export function useInvalidateWebhooks() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY });
}

/** The query key of deliveries. Begins with that of webhooks, so that both are invalidated together. */
export const deliveriesKey = (id: string) => [...WEBHOOKS_KEY, "deliveries", id];

export const deliveriesHref = (id: string) => `/webhooks/${encodeURIComponent(id)}`;
