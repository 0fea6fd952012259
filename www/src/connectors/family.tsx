import { Link } from "wouter-preact";
import { useAddress, whole } from "../parts/address";
import { Answer } from "../parts/answer";
import { Empty } from "../parts/empty";
import { Page } from "../parts/page";
import { SearchField } from "../parts/search";
import { counted } from "./cards";
import { CardPages } from "./known";
import { searchOf } from "./platform-search";
import { usePlatformsQuery } from "./platforms";

const NAMES = ["q", "page"] as const;

/** The connectors of one family: Amazon's, Google's. */
export function FamilyView({ id }: { id: string }) {
  const query = usePlatformsQuery();
  const { values, hrefOf, change } = useAddress(NAMES);
  const family = query.data?.families.find((one) => one.id === id);
  const found = family && (values.q ? searchOf(family.connectors)(values.q) : family.connectors);
  const name = family?.name ?? id;
  return (
    <Page
      title={name}
      above={<Link href="/connectors">Connectors</Link>}
      count={found && counted(found.length, "connector")}
    >
      <div class="filters" role="search">
        <div class="wide">
          <SearchField
            label={`Search ${name}`}
            value={values.q ?? ""}
            onChange={(q) => change({ q, page: undefined }, { replace: true })}
          />
        </div>
      </div>
      <Answer query={query} what="connectors" rows={8}>
        {() =>
          found && found.length > 0 ? (
            <CardPages connectors={found} page={whole(values.page) ?? 1} hrefOf={hrefOf} />
          ) : (
            <Empty title={found ? "No connector matches" : "The catalog has no such family of connectors"}>
              {found ? (
                <Link href={hrefOf({ q: undefined })}>Show all of them</Link>
              ) : (
                <Link href="/connectors">Show all connectors</Link>
              )}
            </Empty>
          )
        }
      </Answer>
    </Page>
  );
}
