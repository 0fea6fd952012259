"use client";
import { parseConnectorKey } from "connector-vault";
import { useEffect, useState } from "react";

export default function Page() {
  const [platform, setPlatform] = useState("");
  useEffect(() => setPlatform(parseConnectorKey("api::acme::v1").platform), []);
  return <p>{platform}</p>;
}
