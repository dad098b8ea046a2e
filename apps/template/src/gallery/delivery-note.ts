import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';
import { letterHead, letterStyle, sampleCompany, sampleCustomer, samplePlaces } from './letter-style';

export const deliveryNote: GalleryTemplate = {
  name: 'delivery-note',
  formats: [DocumentFormat.Pdf, DocumentFormat.Html],
  content: `{# subject: [[note]] {{ number }} #}
{# file: [[note]] {{ number }} #}
{# page: [[paper]] #}
{# margin: 18mm 15mm 22mm #}
{# footer: <div style="display: flex; justify-content: space-between; width: 100%"><span>{{ company.name }}</span><span>{page} / {pages}</span></div> #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <title>[[note]] {{ number }}</title>
    <style>${letterStyle}
      .check { width: 4.5mm; height: 4.5mm; margin-left: auto; border: .3mm solid #586474; border-radius: .8mm; }
      .notice { margin: 7mm 0 16mm; padding: 3.5mm 5mm; border-left: 1mm solid #1f4fd8; background: #eef3ff; }
      .sign { display: flex; gap: 12mm; break-inside: avoid; }
      .sign div { flex: 1; padding-top: 1.5mm; border-top: .3mm solid #1d2733; color: #586474; font-size: 8.5pt; }
    </style>
  </head>
  <body>${letterHead}
    <h1>[[note]] {{ number }}</h1>
    <div class="parties">
      <div><span class="soft">[[deliverTo]]</span><br />{{ customer.name }}<br />{{ customer.street }}<br />{{ customer.city }}</div>
      <dl>
        <dt>[[order]]</dt><dd>{{ orderNumber }}</dd>
        <dt>[[date]]</dt><dd>{{ date | date("long") }}</dd>
        <dt>[[carrier]]</dt><dd>{{ carrier }}</dd>
        <dt>[[parcels]]</dt><dd>{{ parcels | number }}</dd>
      </dl>
    </div>
    <table class="lines">
      <thead>
        <tr><th>[[article]]</th><th>[[item]]</th><th class="number">[[ordered]]</th><th class="number">[[delivered]]</th><th class="number">[[received]]</th></tr>
      </thead>
      <tbody>
        {% for line in lines %}
        <tr>
          <td>{{ line.article }}</td>
          <td>{{ line.text }}</td>
          <td class="number">{{ line.ordered | number }}</td>
          <td class="number">{% if line.delivered < line.ordered %}<strong>{{ line.delivered | number }}</strong>{% else %}{{ line.delivered | number }}{% endif %}</td>
          <td><div class="check"></div></td>
        </tr>
        {% endfor %}
      </tbody>
    </table>
    {% if remark %}<div class="notice">{{ remark }}</div>{% endif %}
    <div class="sign"><div>[[when]]</div><div>[[signature]]</div></div>
  </body>
</html>
`,
  texts: {
    en: {
      ...samplePlaces.en,
      title: 'Delivery note',
      description: 'What was ordered and what is in the parcels, to check and sign.',
      category: 'Sales',
      note: 'Delivery note',
      deliverTo: 'Deliver to',
      order: 'Order',
      date: 'Date',
      carrier: 'Carrier',
      parcels: 'Parcels',
      article: 'Item no.',
      item: 'Description',
      ordered: 'Ordered',
      delivered: 'Delivered',
      received: 'Received',
      when: 'Date of receipt',
      signature: 'Name and signature',
      lamp: 'Desk lamp, brushed aluminum',
      cable: 'Cable, 3 m',
      shade: 'Lamp shade, linen',
      later: 'Four lamp shades follow next week; they cost no further shipping.',
    },
    'en-GB': {
      ...samplePlaces['en-GB'],
      lamp: 'Desk lamp, brushed aluminium',
      later: 'Four lamp shades follow next week, at no further cost for delivery.',
    },
    fr: {
      ...samplePlaces.fr,
      title: 'Bon de livraison',
      description: 'Ce qui a été commandé et ce que contiennent les colis, à vérifier et à signer.',
      category: 'Ventes',
      note: 'Bon de livraison',
      deliverTo: 'Livrer à',
      order: 'Commande',
      date: 'Date',
      carrier: 'Transporteur',
      parcels: 'Colis',
      article: 'Référence',
      item: 'Désignation',
      ordered: 'Commandé',
      delivered: 'Livré',
      received: 'Reçu',
      when: 'Date de réception',
      signature: 'Nom et signature',
      lamp: 'Lampe de bureau, aluminium brossé',
      cable: 'Câble, 3 m',
      shade: 'Abat-jour en lin',
      later: 'Quatre abat-jour suivent la semaine prochaine, sans frais de port.',
    },
    'fr-CA': {
      ...samplePlaces['fr-CA'],
      article: 'N° d’article',
      item: 'Description',
      later: 'Quatre abat-jour suivront la semaine prochaine, sans frais de livraison.',
    },
  },
  sampleData: {
    number: 'L-2026-118',
    orderNumber: 'B-5561',
    date: '2026-11-21',
    carrier: 'Blue Van',
    parcels: 3,
    company: sampleCompany,
    customer: sampleCustomer,
    lines: [
      { article: '10-204', text: '[[lamp]]', ordered: 12, delivered: 12 },
      { article: '10-811', text: '[[cable]]', ordered: 12, delivered: 12 },
      { article: '22-030', text: '[[shade]]', ordered: 12, delivered: 8 },
    ],
    remark: '[[later]]',
  },
};
