// Software bills of materials in CycloneDX format: the components of a published part, with versions, licences and checksums.
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { spdx } from "./components.mjs";

/** @returns {string} the package URL (purl) */
const purl = (type, name, version) =>
  `pkg:${type}/${name.split("/").map(encodeURIComponent).join("/")}@${encodeURIComponent(version)}`;

function library(type, { name, version, license, repository, sha256, sha512 }) {
  const hashes = new Models.HashDictionary();
  if (sha256) hashes.set(Enums.HashAlgorithm["SHA-256"], sha256);
  if (sha512) hashes.set(Enums.HashAlgorithm["SHA-512"], sha512);
  const references = repository ? [new Models.ExternalReference(repository, Enums.ExternalReferenceType.VCS)] : [];
  return new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: `${type}:${name}@${version}`,
    version,
    hashes,
    licenses: new Models.LicenseRepository([new Models.LicenseExpression(spdx(license))]),
    purl: purl(type, name, version),
    externalReferences: new Models.ExternalReferenceRepository(references),
  });
}

/**
 * @param {{ name: string, version: string, crates: object[], packages?: object[] }} part its components as in components.mjs
 * @returns {string} JSON, deterministic
 */
export function sbom({ name, version, crates, packages = [] }) {
  const component = new Models.Component(Enums.ComponentType.Application, name, { bomRef: name, version });
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component }) });
  for (const crate of crates) bom.components.add(library("cargo", crate));
  for (const npmPackage of packages) bom.components.add(library("npm", npmPackage));
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(normalizers).serialize(bom, { sortLists: true, space: 2 })}\n`;
}
