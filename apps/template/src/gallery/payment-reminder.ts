import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';
import { samplePlaces } from './letter-style';
import { messageStyle } from './message-style';

export const paymentReminder: GalleryTemplate = {
  name: 'payment-reminder',
  formats: [DocumentFormat.Html, DocumentFormat.Pdf],
  content: `{# subject: [[subject]] {{ invoice.number }} #}
{# file: [[subject]] {{ invoice.number }} #}
{# page: [[paper]] #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>[[subject]] {{ invoice.number }}</title>
    <style>${messageStyle}
      .box { border-left: 4px solid #b45309; background: #fff7e8; }
      .box strong { font-size: 28px; line-height: 1.3; font-variant-numeric: tabular-nums; }
    </style>
  </head>
  <body>
    <div class="message">
      <p class="brand">{{ company.name }}</p>
      <h1>{% if level > 1 %}[[secondTitle]]{% else %}[[firstTitle]]{% endif %}</h1>
      <p>[[dear]] {{ customer.name }},</p>
      <p>{% if level > 1 %}[[second]]{% else %}[[first]]{% endif %}</p>
      <div class="box">
        <span class="soft">[[open]]</span><br />
        <strong>{{ invoice.amount | currency(currency) }}</strong><br />
        <span class="soft">[[invoiceNumber]] {{ invoice.number }} · [[due]] {{ invoice.due | date("long") }}</span>
      </div>
      <p><a class="button" href="{{ payUrl }}">[[pay]]</a></p>
      <p class="soft">[[crossed]]</p>
      <p>[[regards]]<br />{{ company.name }}</p>
    </div>
    <p class="foot">{{ company.account }}</p>
  </body>
</html>
`,
  texts: {
    en: {
      ...samplePlaces.en,
      title: 'Payment reminder',
      description: 'A friendly first reminder; from the second on it is firmer.',
      category: 'Sales',
      subject: 'Reminder: invoice',
      firstTitle: 'Did this slip your mind?',
      secondTitle: 'Your payment is overdue',
      dear: 'Dear',
      first: 'Your invoice is still open. Perhaps it went unnoticed; please have a look.',
      second: 'In spite of our reminder your invoice is still open. Please pay it within seven days.',
      open: 'Amount due',
      invoiceNumber: 'Invoice',
      due: 'due',
      pay: 'Pay now',
      crossed: 'If you paid in the meantime, please disregard this message.',
      regards: 'Kind regards',
    },
    'en-GB': {
      ...samplePlaces['en-GB'],
      second: 'Despite our reminder your invoice is still outstanding. Please settle it within seven days.',
      open: 'Amount outstanding',
    },
    fr: {
      ...samplePlaces.fr,
      title: 'Rappel de paiement',
      description: 'Un premier rappel aimable ; à partir du deuxième, plus ferme.',
      category: 'Ventes',
      subject: 'Rappel : facture',
      firstTitle: 'Un oubli, sans doute ?',
      secondTitle: 'Votre paiement est en retard',
      dear: 'Bonjour',
      first: 'Votre facture n’est pas encore réglée. Elle vous a peut-être échappé : voici l’essentiel.',
      second: 'Malgré notre rappel, votre facture n’est pas réglée. Merci de la payer sous sept jours.',
      open: 'Montant dû',
      invoiceNumber: 'Facture',
      due: 'échue le',
      pay: 'Payer maintenant',
      crossed: 'Si vous avez payé entre-temps, veuillez ne pas tenir compte de ce message.',
      regards: 'Cordialement',
    },
    'fr-CA': {
      ...samplePlaces['fr-CA'],
      description: 'Un premier rappel aimable; à partir du deuxième, plus ferme.',
      firstTitle: 'Un oubli, sans doute?',
      first: 'Votre facture n’est pas encore payée. Elle vous a peut-être échappé; voici l’essentiel.',
    },
  },
  sampleData: {
    level: 1,
    currency: '[[currency]]',
    customer: { name: 'Ada Lovelace' },
    invoice: { number: '2026-0389', amount: 5612.4, due: '2026-10-21' },
    payUrl: 'https://northwind.example/pay/2026-0389',
    company: { name: 'Northwind Studio', account: '[[companyAccount]]' },
  },
};
