/** Identifies a template within a tenant. */
export interface TemplateKey {
  name: string;
  culture: string | undefined;
}

/** How a template is called in a sentence. */
export const titleOf = ({ name, culture }: TemplateKey): string =>
  culture ? `The template "${name}" (${culture})` : `The template "${name}"`;
