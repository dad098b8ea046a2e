import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';
import { letterHead, letterStyle, sampleCompany, sampleCustomer, samplePlaces } from './letter-style';

export const invoice: GalleryTemplate = {
  name: 'invoice',
  formats: [DocumentFormat.Pdf, DocumentFormat.Excel, DocumentFormat.Html],
  content: `{# subject: [[invoice]] {{ number }} #}
{# file: [[invoice]] {{ number }} #}
{# page: [[paper]] #}
{# margin: 18mm 15mm 22mm #}
{# footer: <div style="display: flex; justify-content: space-between; width: 100%"><span>{{ company.name }} · {{ company.account }}</span><span>{page} / {pages}</span></div> #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <title>[[invoice]] {{ number }}</title>
    <style>${letterStyle}
    </style>
  </head>
  <body>${letterHead}
    <h1>[[invoice]] {{ number }}</h1>
    <div class="parties">
      <div>{{ customer.name }}<br />{{ customer.street }}<br />{{ customer.city }}</div>
      <dl>
        <dt>[[date]]</dt><dd>{{ date | date("long") }}</dd>
        <dt>[[due]]</dt><dd>{{ due | date("long") }}</dd>
      </dl>
    </div>
    {% set amounts = [] %}
    <table class="lines" data-sheet="[[invoice]]">
      <thead>
        <tr><th>[[item]]</th><th class="number">[[quantity]]</th><th class="number">[[price]]</th><th class="number">[[amount]]</th></tr>
      </thead>
      <tbody>
        {% for line in lines %}
        {% set amount = line.quantity * line.price %}{% set _ = amounts.push(amount) %}
        <tr>
          <td>{{ line.text }}</td>
          <td class="number" data-type="number" data-value="{{ line.quantity }}">{{ line.quantity | number }}</td>
          <td class="number" data-type="number" data-value="{{ line.price }}" data-format="#,##0.00">{{ line.price | currency(currency) }}</td>
          <td class="number" data-type="number" data-value="{{ amount }}" data-format="#,##0.00">{{ amount | currency(currency) }}</td>
        </tr>
        {% endfor %}
      </tbody>
    </table>
    {% set net = amounts | sum | round(2) %}{% set tax = (net * taxRate) | round(2) %}
    <table class="totals" data-sheet="[[total]]">
      <tr><td>[[net]]</td><td class="number" data-type="number" data-value="{{ net }}">{{ net | currency(currency) }}</td></tr>
      <tr><td>[[tax]] ({{ (taxRate * 100) | number }}[[percent]])</td><td class="number" data-type="number" data-value="{{ tax }}">{{ tax | currency(currency) }}</td></tr>
      <tr><td>[[total]]</td><td class="number" data-type="number" data-value="{{ net + tax }}">{{ (net + tax) | currency(currency) }}</td></tr>
    </table>
    <p>[[pay]] <strong>{{ company.account }}</strong> · {{ number }}</p>
    <p>[[thanks]]</p>
  </body>
</html>
`,
  texts: {
    en: {
      ...samplePlaces.en,
      title: 'Invoice',
      description: 'Lines, tax and total on paper, and as a workbook that calculates.',
      category: 'Sales',
      invoice: 'Invoice',
      date: 'Date',
      due: 'Due',
      item: 'Description',
      quantity: 'Quantity',
      price: 'Unit price',
      amount: 'Amount',
      net: 'Subtotal',
      tax: 'Sales tax',
      percent: '%',
      total: 'Total',
      pay: 'Please pay to account',
      thanks: 'Thank you for your business.',
      design: 'Design of the autumn catalog',
      photos: 'Product photographs',
      print: 'Supervision of the print run, on site',
    },
    'en-GB': {
      ...samplePlaces['en-GB'],
      net: 'Net amount',
      tax: 'VAT',
      thanks: 'With thanks for your business.',
      design: 'Design of the autumn catalogue',
    },
    fr: {
      ...samplePlaces.fr,
      title: 'Facture',
      description: 'Lignes, taxe et total sur papier, et en classeur qui calcule.',
      category: 'Ventes',
      invoice: 'Facture',
      date: 'Date',
      due: 'Échéance',
      item: 'Désignation',
      quantity: 'Quantité',
      price: 'Prix unitaire',
      amount: 'Montant',
      net: 'Total HT',
      tax: 'TVA',
      percent: ' %',
      total: 'Total TTC',
      pay: 'À régler sur le compte',
      thanks: 'Merci de votre confiance.',
      design: 'Conception du catalogue d’automne',
      photos: 'Photographies des produits',
      print: 'Suivi de l’impression sur place',
    },
    'fr-CA': {
      ...samplePlaces['fr-CA'],
      item: 'Description',
      net: 'Sous-total',
      tax: 'TPS et TVQ',
      percent: ' %',
      total: 'Total',
    },
  },
  sampleData: {
    number: '2026-0417',
    date: '2026-11-21',
    due: '2026-12-21',
    currency: '[[currency]]',
    taxRate: 0.2,
    company: sampleCompany,
    customer: sampleCustomer,
    lines: [
      { text: '[[design]]', quantity: 1, price: 2400 },
      { text: '[[photos]]', quantity: 36, price: 45 },
      { text: '[[print]]', quantity: 6.5, price: 110 },
    ],
  },
  sampleDataIn: { en: { taxRate: 0.0635 }, 'fr-CA': { taxRate: 0.14975 } },
};
