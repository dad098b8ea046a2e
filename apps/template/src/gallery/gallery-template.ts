import type { DocumentFormat } from '@plinth/contracts/template/shapes';

/** The languages of the gallery; a region has only what differs from its language. */
export const galleryCultures = ['en', 'en-GB', 'fr', 'fr-CA'] as const;

export type GalleryCulture = (typeof galleryCultures)[number];

export type Texts = Record<string, string>;

/** A template as the gallery keeps it: one design, with its texts in each language. */
export interface GalleryTemplate {
  name: string;
  /** What it is made for, the best first. */
  formats: readonly DocumentFormat[];
  /** The content of the template; `[[key]]` stands for a text, `[[paper]]` for the paper of letters. */
  content: string;
  /** Beside the words of the document: `title`, `description` and `category`. */
  texts: { en: Texts; fr: Texts; 'en-GB'?: Texts; 'fr-CA'?: Texts };
  /** Data to look at it with; `[[key]]` stands for a text here, too. */
  sampleData: Record<string, unknown>;
  /** What is different in the sample data of a language, such as a rate of tax. */
  sampleDataIn?: Partial<Record<GalleryCulture, Record<string, unknown>>>;
}
