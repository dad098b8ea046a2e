import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';

export const badge: GalleryTemplate = {
  name: 'badge',
  formats: [DocumentFormat.Pdf, DocumentFormat.Html],
  content: `{# subject: [[badge]] {{ person.name }} #}
{# file: [[badge]] {{ person.name }} #}
{# page: 86mm 124mm #}
{# margin: 0 #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <title>{{ person.name }}</title>
    <style>
      * { box-sizing: border-box; }
      body { margin: 0; background: #fff; color: #1d2733; font: 11pt/1.35 "Liberation Sans", Arial, sans-serif; }
      .badge { display: flex; flex-direction: column; width: 86mm; height: 124mm; margin: 0 auto; overflow: hidden; text-align: center; }
      .top { padding: 13mm 6mm 15mm; background: #0f766e; color: #fff; }
      .slot { width: 14mm; height: 3.5mm; margin: -8mm auto 7mm; border-radius: 2mm; background: #fff; }
      .top strong { font-size: 15pt; line-height: 1.2; }
      .round { display: grid; place-items: center; width: 24mm; height: 24mm; margin: -12mm auto 4mm; border: 1.4mm solid #fff; border-radius: 50%; background: #d7f0ec; color: #0f766e; font-size: 20pt; font-weight: 700; }
      h1 { margin: 0 6mm 1.5mm; font-size: 21pt; line-height: 1.12; overflow-wrap: anywhere; }
      .role { margin: 0 6mm; color: #475563; }
      .bottom { display: flex; align-items: center; justify-content: space-between; margin-top: auto; padding: 4mm 6mm; border-top: .3mm solid #dbe1e8; font-size: 9pt; }
      .kind { padding: 1mm 4mm; border-radius: 99px; background: #0f766e; color: #fff; font-weight: 700; }
    </style>
  </head>
  <body>
    <div class="badge">
      <div class="top"><div class="slot"></div><strong>{{ event.name }}</strong><br />{{ event.date | date("long") }}</div>
      <div class="round">{% for word in person.name.split(" ") %}{% if loop.index < 3 %}{{ word | first | upper }}{% endif %}{% endfor %}</div>
      <h1>{{ person.name }}</h1>
      <p class="role">{{ person.role }}{% if person.company %}<br />{{ person.company }}{% endif %}</p>
      <div class="bottom">
        <span class="kind">{% if person.kind == "speaker" %}[[speaker]]{% elif person.kind == "team" %}[[team]]{% else %}[[guest]]{% endif %}</span>
        <span>{{ person.number }}</span>
      </div>
    </div>
  </body>
</html>
`,
  texts: {
    en: {
      title: 'Name badge',
      description: 'For a conference, in the size of a lanyard pouch.',
      category: 'Events',
      badge: 'Badge',
      speaker: 'Speaker',
      team: 'Team',
      guest: 'Guest',
      event: 'Days of Color and Light',
      role: 'Analyst',
    },
    'en-GB': { title: 'Name badge for events', event: 'Days of Colour and Light' },
    fr: {
      title: 'Badge',
      description: 'Pour un congrès, au format d’un porte-badge.',
      category: 'Événements',
      badge: 'Badge',
      speaker: 'Intervention',
      team: 'Équipe',
      guest: 'Public',
      event: 'Journées de la couleur',
      role: 'Analyste',
    },
    'fr-CA': {
      title: 'Insigne porte-nom',
      badge: 'Insigne',
      description: 'Pour un congrès, au format d’un porte-nom.',
    },
  },
  sampleData: {
    event: { name: '[[event]]', date: '2027-03-18' },
    person: {
      name: 'Ada Lovelace',
      role: '[[role]]',
      company: 'Northwind Studio',
      kind: 'speaker',
      number: '0417',
    },
  },
};
