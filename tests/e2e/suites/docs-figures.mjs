// Checks the figures in the documentation: counts, costs, sizes, tables of parameters and codes.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LIMIT_BYTES, WINDOW_LIMIT_BYTES, filesOf, totalSize } from "../../../scripts/build-site.mjs";
import { root, sampleImport } from "../../../scripts/lib/paths.mjs";
import { loadLogos } from "../../../www/logos.ts";
import { page } from "../support/docs.mjs";
import { PROBLEM_CODES } from "../support/reference.mjs";
import { cli } from "../support/workspace.mjs";
import { proof } from "../support/proof.mjs";

/** The number of connectors, actions and files of a catalog, from its report. */
export function catalogCounts(catalog) {
  const report = readFileSync(join(catalog, "report.txt"), "utf8");
  return report
    .match(/^(\d+) connectors and (\d+) actions from (\d+) files$/m)
    .slice(1)
    .map(Number);
}

export function figures(fixture) {
  describe("figures", () => {
    const number = (text) => Number(text.replaceAll(/[$,*]/g, ""));

    test("the size of the sample catalog is right", () => {
      const [connectors, actions, files] = catalogCounts(fixture.catalog);
      const stated = `${connectors.toLocaleString("en")} connectors with ${actions.toLocaleString("en")} actions`;
      assert.ok(page("README.md").prose.includes(stated), stated);
      assert.ok(page("README.md").prose.includes(`${fixture.connections} generated connections`));
      const newer = sampleImport.filter((argument) => argument === "--newer").length;
      const ownDocuments = readdirSync(join(root, "documents")).length;
      const ofDirectory = (files - newer - ownDocuments).toLocaleString("en");
      assert.ok(page("README.md").prose.includes(`all ${ofDirectory} documents`), `${files}`);
    });

    test("the number of connectors without actions is right", async () => {
      const [stated] = page("README.md").prose.match(/([\d,]+) of them have no actions yet/);
      const counted = await cli("catalog", "find", "--without-actions", "--catalog", fixture.catalog);
      assert.equal(
        stated,
        `${counted.match(/^(\d+) of \d+ connectors without actions$/m)[1]} of them have no actions yet`,
      );
    });

    test("the number of platforms with a logo is right", () => {
      const file = readFileSync(join(root, "providers.toml"), "utf8");
      const [platforms, branded] = [/^\[platforms\.[^.\]]+\]$/gm, /^logo = /gm].map((line) => file.match(line).length);
      const stated = `${loadLogos(file).size} icons, for ${branded} of its ${platforms} platforms`;
      assert.ok(page("docs/catalog.md").prose.includes(stated), stated);
    });

    test("the monthly costs add up", () => {
      const bills = page("docs/operating.md").tables.filter(([heads]) => heads.at(-1) === "cost");
      assert.equal(bills.length, 2);
      for (const [, ...rows] of bills) {
        const [plan, ...parts] = rows.slice(0, -1);
        assert.ok(parts.length > 5);
        let sum = number(plan.at(-1));
        for (const [what, used, included, price, cost] of parts) {
          const [, each, unit] = price.match(/^\$([\d.]+) (a million|each)$/);
          const due = (Math.max(number(used) - number(included), 0) * number(each)) / (unit === "each" ? 1 : 1e6);
          assert.equal(number(cost).toFixed(2), due.toFixed(2), what);
          sum += number(cost);
        }
        assert.equal(number(rows.at(-1).at(-1)).toFixed(2), sum.toFixed(2));
        assert.ok(page("docs/comparison.md").prose.includes(bills[0].at(-1).at(-1).replaceAll("*", "")));
      }
    });

    test("the sizes of the console and the connect window are right", () => {
      const prose = page("docs/benchmarks.md").prose.replaceAll(/\s+/g, " ");
      for (const [file, limit, stated] of [
        ["index.html", LIMIT_BYTES, /It weighs (\d+) KB gzipped in all, .* of the (\d+) KB that the build allows/],
        ["connect.html", WINDOW_LIMIT_BYTES, /connect their accounts weighs (\d+) KB of (\d+) KB/],
      ]) {
        const [weight, allowed] = stated.exec(prose).slice(1).map(Number);
        const real = totalSize(filesOf(file)) / 1000;
        assert.equal(allowed * 1000, limit);
        assert.ok(
          Math.abs(real / weight - 1) < 0.04,
          `${file}: the page states ${weight} KB, the actual size is ${real.toFixed(1)}`,
        );
      }
    });

    proof("the size of a connection in the database is right", async () => {
      const { prose: wrapped, tables } = page("docs/scaling.md");
      const prose = wrapped.replaceAll(/\s+/g, " ");
      const [, [count, bytes]] = tables
        .find(([[head]]) => head === "connections in the database")
        .map((row) => row.map(number));
      const sizedState = fixture.migrated.copy("docs-size");
      /** The size of the database in D1, and averages of its connections. */
      const measure = async () => {
        const query =
          "SELECT count(*) AS n, avg(json_array_length(tags)) AS tags, avg(length(description)) AS text FROM connections";
        const { meta, results } = await sizedState.use(({ vault }) => vault.prepare(query).run());
        return { bytes: meta.size_after, ...results[0] };
      };
      // Events and audit entries are deleted after some time, so they do not count.
      for (const trigger of ["connections_created_event", "connections_inserted_audit"])
        await sizedState.use(({ vault }) => vault.prepare(`DROP TRIGGER ${trigger}`).run());
      const empty = await measure();
      await cli(
        "seed",
        "--account",
        "size",
        "--connections",
        String(count),
        "--seed",
        "1",
        "--catalog",
        fixture.catalog,
        "--local",
        "--persist-to",
        sizedState.path,
      );
      const full = await measure();
      const perConnection = (full.bytes - empty.bytes) / count;
      assert.equal(full.n, count);
      assert.ok(
        Math.abs(perConnection / bytes - 1) < 0.03,
        `docs/scaling.md states ${bytes} bytes, the actual size is ${perConnection.toFixed()}`,
      );
      assert.ok(
        prose.includes(`with ${full.tags.toFixed(1)} tags each and a description of ${full.text.toFixed()} characters`),
        `${full.tags} tags, ${full.text} characters`,
      );

      // The figures in the text are derived from the table.
      const [, stated, millions] = prose.match(
        /takes about \*\*([\d,]+) bytes\*\*, so a database holds some \*\*([\d.]+) million connections\*\*/,
      );
      const parts = tables.find(([[head]]) => head === `of the ${stated} bytes`);
      assert.equal(
        parts.slice(1).reduce((sum, [, part]) => sum + number(part), 0),
        number(stated),
      );
      assert.equal((10e9 / number(stated) / 1e6).toFixed(1), millions);
      assert.ok(page("docs/operating.md").prose.includes(`about ${millions} million connections`));
    });

    test("every code is documented", () => {
      const codes = [
        ...page("docs/api.md")
          .tables.find(([[head]]) => head === "status")
          .slice(1)
          .flatMap(([, cell]) => cell.match(/`[a-z_]+`/g))
          .map((code) => code.slice(1, -1)),
      ];
      assert.deepEqual(codes.toSorted(), PROBLEM_CODES.toSorted());
    });
  });
}
