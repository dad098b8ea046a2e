import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';
import { sampleCustomer, samplePlaces } from './letter-style';
import { messageStyle } from './message-style';

export const orderConfirmation: GalleryTemplate = {
  name: 'order-confirmation',
  formats: [DocumentFormat.Html, DocumentFormat.Pdf],
  content: `{# subject: [[subject]] {{ number }} #}
{# file: [[order]] {{ number }} #}
{# page: [[paper]] #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>[[subject]] {{ number }}</title>
    <style>${messageStyle}
      .way { display: flex; gap: 6px; margin: 26px 0; }
      .way div { flex: 1; padding-top: 8px; border-top: 4px solid #e2e7ed; color: #586474; font-size: 13px; }
      .way .done { border-color: #1f4fd8; color: #1d2733; font-weight: 700; }
    </style>
  </head>
  <body>
    <div class="message">
      <p class="brand">{{ company.name }}</p>
      <h1>[[thanks]] {{ customer.name }}</h1>
      <p>[[received]] <strong>{{ number }}</strong> [[on]] {{ date | date("long") }}.</p>
      <div class="way">
        <div class="done">[[ordered]]</div>
        <div {% if status == "shipped" or status == "delivered" %}class="done"{% endif %}>[[shipped]]</div>
        <div {% if status == "delivered" %}class="done"{% endif %}>[[delivered]]</div>
      </div>
      {% set amounts = [] %}
      <table>
        {% for line in lines %}
        {% set _ = amounts.push(line.quantity * line.price) %}
        <tr>
          <td>{{ line.text }}<br /><span class="soft">{{ line.quantity | number }} × {{ line.price | currency(currency) }}</span></td>
          <td class="number">{{ (line.quantity * line.price) | currency(currency) }}</td>
        </tr>
        {% endfor %}
        <tr><td>[[shipping]]</td><td class="number">{% if shipping %}{{ shipping | currency(currency) }}{% else %}[[free]]{% endif %}</td></tr>
        <tr class="total"><td>[[total]]</td><td class="number">{{ ((amounts | sum) + shipping) | currency(currency) }}</td></tr>
      </table>
      <div class="box">
        <span class="soft">[[deliverTo]]</span><br />
        {{ customer.name }}<br />{{ customer.street }}<br />{{ customer.city }}
      </div>
      <p><a class="button" href="{{ orderUrl }}">[[follow]]</a></p>
    </div>
    <p class="foot">{{ company.name }} · {{ company.email }}</p>
  </body>
</html>
`,
  texts: {
    en: {
      ...samplePlaces.en,
      title: 'Order confirmation',
      description: 'What was ordered, how far it is, and where it goes.',
      category: 'Sales',
      subject: 'Your order',
      order: 'Order',
      thanks: 'Thank you,',
      received: 'We received your order',
      on: 'on',
      ordered: 'Ordered',
      shipped: 'Shipped',
      delivered: 'Delivered',
      shipping: 'Shipping',
      free: 'Free',
      total: 'Total',
      deliverTo: 'We deliver to',
      follow: 'Track your order',
      lamp: 'Desk lamp, brushed aluminum',
      bulb: 'Warm light bulb',
    },
    'en-GB': {
      ...samplePlaces['en-GB'],
      shipped: 'Dispatched',
      shipping: 'Delivery',
      lamp: 'Desk lamp, brushed aluminium',
    },
    fr: {
      ...samplePlaces.fr,
      title: 'Confirmation de commande',
      description: 'Ce qui est commandé, où cela en est et où cela va.',
      category: 'Ventes',
      subject: 'Votre commande',
      order: 'Commande',
      thanks: 'Merci,',
      received: 'Nous avons reçu votre commande',
      on: 'le',
      ordered: 'Commandé',
      shipped: 'Expédié',
      delivered: 'Livré',
      shipping: 'Livraison',
      free: 'Offerte',
      total: 'Total',
      deliverTo: 'Nous livrons à',
      follow: 'Suivre la commande',
      lamp: 'Lampe de bureau, aluminium brossé',
      bulb: 'Ampoule à lumière chaude',
    },
    'fr-CA': { ...samplePlaces['fr-CA'], free: 'Gratuite', follow: 'Faire le suivi de la commande' },
  },
  sampleData: {
    number: 'B-5561',
    date: '2026-11-21',
    status: 'shipped',
    currency: '[[currency]]',
    shipping: 6.9,
    orderUrl: 'https://northwind.example/orders/B-5561',
    company: { name: 'Northwind Studio', email: 'hello@northwind.example' },
    customer: sampleCustomer,
    lines: [
      { text: '[[lamp]]', quantity: 2, price: 89 },
      { text: '[[bulb]]', quantity: 4, price: 7.5 },
    ],
  },
};
