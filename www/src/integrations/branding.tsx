// Branding: the name, logo, colour and URL that users of the app see.
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import type { Branding, NewBranding } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { findFaultMessage } from "../components/faults";
import { Field, TextField } from "../components/field";
import { FormError } from "../components/form-error";
import { Logo } from "../components/logo";
import { Modal } from "../components/modal";
import { Notice } from "../components/notice";
import { findPageHeading } from "../components/page";
import { QueryView } from "../components/query-view";
import { SaveButtons } from "../components/save-buttons";
import { useSingleFlight } from "../components/use-single-flight";
import { useValidatedForm } from "../components/use-validated-form";
import { chooseTextColor } from "../connect/branding";
import { useSession } from "../session/session";
import { readLogo } from "./logo-file";

const BRANDING_KEY = ["branding"];

/** The current branding, and a form that changes it. */
export function BrandingSection() {
  const { vault, may } = useSession();
  const client = useQueryClient();
  const query = useQuery<Branding>({ queryKey: BRANDING_KEY, queryFn: ({ signal }) => vault.branding.get({ signal }) });
  const [isEditing, setEditing] = useState(false);
  const [isSaved, setSaved] = useState(false);
  return (
    <section class="section" aria-labelledby="branding-title">
      <div class="title">
        <h2 id="branding-title">Your app</h2>
        <p class="muted">
          How your app appears to its users where they connect accounts, approve calls of agents and open downloads.
        </p>
      </div>
      <Notice>{isSaved && "Your app was saved."}</Notice>
      <QueryView query={query} name="the branding" rows={1}>
        {(branding) => (
          <div class="card client">
            <Preview {...branding} />
            {may("clients:write") && (
              <div class="buttons">
                <button type="button" onClick={() => (setSaved(false), setEditing(true))}>
                  Edit your app
                </button>
              </div>
            )}
            {isEditing && (
              <Modal title="Your app" kind="form" onClose={() => setEditing(false)} fallbackFocus={findPageHeading}>
                <Form
                  branding={branding}
                  onClose={() => setEditing(false)}
                  onSaved={(saved) => {
                    client.setQueryData(BRANDING_KEY, saved);
                    setEditing(false);
                    setSaved(true);
                  }}
                />
              </Modal>
            )}
          </div>
        )}
      </QueryView>
    </section>
  );
}

/** Shows the app as its users see it. Values that are not set come from the service's configuration. */
function Preview({ name, logo, color, url }: Pick<Branding, "name" | "logo" | "color" | "url">) {
  const textColor = color === null ? undefined : chooseTextColor(color);
  return (
    <dl class="description-list">
      <dt>Name</dt>
      <dd class="app-preview">
        {logo !== null && <Logo name={name ?? ""} image={logo} size={32} isAppLogo />}
        {name ?? <DefaultValue />}
      </dd>
      {logo === null && (
        <>
          <dt>Logo</dt>
          <dd>
            <DefaultValue />
          </dd>
        </>
      )}
      <dt>Colour</dt>
      <dd>
        {textColor ? (
          <span class="chip" style={{ background: color ?? "", color: textColor }}>
            {color}
          </span>
        ) : (
          <DefaultValue />
        )}
      </dd>
      <dt>Address</dt>
      <dd>{url ?? <DefaultValue />}</dd>
    </dl>
  );
}

const DefaultValue = () => <span class="muted">as the service is configured</span>;

interface FormProps {
  branding: Branding;
  onClose: () => void;
  onSaved: (saved: Branding) => void;
}

function Form({ branding, onClose, onSaved }: FormProps) {
  const { vault } = useSession();
  const [values, setValues] = useState({
    name: branding.name ?? "",
    logo: branding.logo,
    color: branding.color ?? "",
    url: branding.url ?? "",
  });
  const [logoFault, setLogoFault] = useState<string>();
  const request: NewBranding = {
    name: values.name.trim() || null,
    logo: values.logo,
    color: values.color.trim() || null,
    url: values.url.trim() || null,
  };
  const saving = useSingleFlight({ mutationFn: () => vault.branding.set(request), onSuccess: onSaved });
  const { error } = saving;
  const { form, faults, edit, submit } = useValidatedForm(saving, vault.branding.validateSet(request));
  const change = (changes: Partial<typeof values>) => edit(() => setValues({ ...values, ...changes }));
  const choose = async (file: File | undefined) => {
    if (!file) return;
    const logo = await readLogo(file);
    setLogoFault(logo ? undefined : "This browser can't read the file as an image.");
    if (logo) change({ logo });
  };
  return (
    <form class="section" ref={form} onSubmit={submit(saving.run)} noValidate autocomplete="off">
      <p class="muted">Fields that you leave empty use the service's default.</p>
      <TextField
        label="Name"
        value={values.name}
        fault={findFaultMessage(faults, "/name")}
        onInput={(name) => change({ name })}
      />
      <Field
        label="Logo"
        hint="Any image. It is stored as a small PNG image."
        fault={logoFault ?? findFaultMessage(faults, "/logo")}
      >
        {(attributes) => (
          <div class="app-preview">
            {values.logo !== null && <Logo name={values.name} image={values.logo} size={32} isAppLogo />}
            <input
              {...attributes}
              type="file"
              accept="image/*"
              onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
            />
            {values.logo !== null && (
              <button type="button" onClick={() => change({ logo: null })}>
                Remove the logo
              </button>
            )}
          </div>
        )}
      </Field>
      <TextField
        label="Colour"
        placeholder="#1a2b3c"
        hint="Of buttons and links. The text on it is black or white, whichever is easier to read."
        value={values.color}
        fault={findFaultMessage(faults, "/color")}
        onInput={(color) => change({ color })}
      />
      <TextField
        label="Address"
        type="url"
        placeholder="https://app.example.com"
        hint="Pages at the end link to it if the request to connect has no return URL."
        value={values.url}
        fault={findFaultMessage(faults, "/url")}
        onInput={(url) => change({ url })}
      />
      {error && <FormError error={error} />}
      <SaveButtons saving={saving} onCancel={onClose} />
    </form>
  );
}
