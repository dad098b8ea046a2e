import { DEFAULT_MIME_TYPE } from '../domain/template';
import { fallbackOf } from '../domain/culture';
import { badge } from './badge';
import { certificate } from './certificate';
import { deliveryNote } from './delivery-note';
import { eventInvitation } from './event-invitation';
import { galleryCultures, type GalleryCulture, type GalleryTemplate, type Texts } from './gallery-template';
import { invoice } from './invoice';
import { monthlyReport } from './monthly-report';
import { orderConfirmation } from './order-confirmation';
import { payslip } from './payslip';
import { paymentReminder } from './payment-reminder';
import { welcome } from './welcome';

/** The templates that tenants may copy, in the order in which they are shown. */
export const gallery: readonly GalleryTemplate[] = [
  invoice,
  orderConfirmation,
  deliveryNote,
  paymentReminder,
  welcome,
  eventInvitation,
  badge,
  certificate,
  payslip,
  monthlyReport,
];

/** The paper on which letters are printed. */
const papers: Record<GalleryCulture, string> = { en: 'Letter', 'en-GB': 'A4', fr: 'A4', 'fr-CA': 'Letter' };

/** The language of the gallery that is nearest to a culture: `fr-BE` reads `fr`, and `de` reads `en`. */
const nearest = (culture: string | undefined): GalleryCulture =>
  fallbackOf(culture)
    .map((wanted) => galleryCultures.find((one) => one.toLowerCase() === wanted?.toLowerCase()))
    .find((found) => found !== undefined) ?? 'en';

/** A template of the gallery in the language that is nearest to a culture. */
export function inCulture(template: GalleryTemplate, culture: string | undefined) {
  const found = nearest(culture);
  const language = found.startsWith('fr') ? 'fr' : 'en';
  const texts: Texts = { paper: papers[found], ...template.texts[language], ...template.texts[found] };
  const filled = (text: string) => text.replace(/\[\[(\w+)\]\]/g, (_, key: string) => texts[key]!);
  const { name, formats, sampleData, sampleDataIn } = template;
  return {
    name,
    title: texts['title']!,
    description: texts['description']!,
    category: texts['category']!,
    formats: [...formats],
    culture: found,
    mimeType: DEFAULT_MIME_TYPE,
    content: filled(template.content),
    sampleData: fillStrings({ ...sampleData, ...sampleDataIn?.[found] }, filled) as Record<string, unknown>,
  };
}

function fillStrings(value: unknown, filled: (text: string) => string): unknown {
  if (typeof value === 'string') return filled(value);
  if (Array.isArray(value)) return value.map((item) => fillStrings(item, filled));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillStrings(item, filled)]));
}
