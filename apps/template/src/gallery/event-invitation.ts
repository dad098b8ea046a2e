import { DocumentFormat } from '@plinth/contracts/template/shapes';
import type { GalleryTemplate } from './gallery-template';

export const eventInvitation: GalleryTemplate = {
  name: 'event-invitation',
  formats: [DocumentFormat.Html, DocumentFormat.Pdf],
  content: `{# subject: [[invitation]] {{ event.name }} #}
{# file: {{ event.name }} #}
{# page: A5 #}
{# margin: 0 #}
<!doctype html>
<html lang="{{ culture }}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>{{ event.name }}</title>
    <style>
      * { box-sizing: border-box; }
      body { margin: 0; overflow-x: hidden; background: #14213d; color: #f7f4ec; font: 15px/1.55 "Liberation Sans", Arial, sans-serif; }
      .card { position: relative; max-width: 148mm; min-height: 210mm; margin: 0 auto; padding: 18mm 15mm 14mm; }
      .sun { position: absolute; top: -42mm; right: -42mm; width: 120mm; height: 120mm; }
      .lead { position: relative; max-width: 80mm; margin: 0 0 26mm; color: #fca311; font-weight: 700; }
      h1 { position: relative; margin: 0 0 5mm; font: 700 38px/1.12 "Liberation Serif", Georgia, serif; }
      p { position: relative; margin: 0 0 8mm; }
      dl { display: grid; grid-template-columns: auto 1fr; gap: 2.5mm 7mm; margin: 0 0 9mm; padding: 6mm 0; border-top: .3mm solid #f7f4ec66; border-bottom: .3mm solid #f7f4ec66; }
      dt { color: #fca311; }
      dd { margin: 0; font-weight: 700; }
      .button { display: inline-block; padding: 3mm 7mm; border-radius: 99px; background: #fca311; color: #14213d; font-weight: 700; text-decoration: none; }
      .soft { margin: 6mm 0 0; color: #c9d1e3; font-size: 12.5px; }
    </style>
  </head>
  <body>
    <div class="card">
      <svg class="sun" viewBox="-60 -60 120 120" aria-hidden="true">
        {% for ring in [58, 47, 36, 25] %}<circle r="{{ ring }}" fill="#fca311" fill-opacity="{{ 0.1 + loop.index0 * 0.09 }}" />{% endfor %}
      </svg>
      <p class="lead">[[dear]] {{ guest.name }}, [[invited]]</p>
      <h1>{{ event.name }}</h1>
      <p>{{ event.description }}</p>
      <dl>
        <dt>[[when]]</dt><dd>{{ event.start | date("full") }}<br />{{ event.start | time("short") }}–{{ event.end | time("short") }}</dd>
        <dt>[[where]]</dt><dd>{{ event.place }}<br />{{ event.address }}</dd>
        {% if event.dress %}<dt>[[dress]]</dt><dd>{{ event.dress }}</dd>{% endif %}
      </dl>
      <a class="button" href="{{ replyUrl }}">[[reply]]</a>
      <p class="soft">[[until]] {{ replyBy | date("long") }}. {{ host }}</p>
    </div>
  </body>
</html>
`,
  texts: {
    en: {
      title: 'Event invitation',
      description: 'A card for an evening, as a message or on paper.',
      category: 'Events',
      invitation: 'Invitation:',
      dear: 'Dear',
      invited: 'you are cordially invited',
      when: 'When',
      where: 'Where',
      dress: 'Dress',
      reply: 'I will be there',
      until: 'Please reply by',
      evening: 'An Evening of Color',
      about: 'The new collection, talks with the people who made it, and music to end the evening.',
      place: 'The Old Theater',
      address: '5 Harbor Street, New Haven',
      attire: 'Come as you are',
    },
    'en-GB': {
      evening: 'An Evening of Colour',
      place: 'The Old Theatre',
      address: '5 Harbour Street, Bristol',
    },
    fr: {
      title: 'Invitation à un événement',
      description: 'Une carte pour une soirée, en message ou sur papier.',
      category: 'Événements',
      invitation: 'Invitation :',
      dear: 'Bonjour',
      invited: 'nous avons le plaisir de vous inviter',
      when: 'Quand',
      where: 'Où',
      dress: 'Tenue',
      reply: 'Je serai là',
      until: 'Réponse souhaitée avant le',
      evening: 'Une soirée en couleurs',
      about:
        'La nouvelle collection, des échanges avec celles et ceux qui l’ont faite, et de la musique pour finir la soirée.',
      place: 'Le Vieux Théâtre',
      address: '5 quai du Port, Marseille',
      attire: 'Venez comme vous êtes',
    },
    'fr-CA': {
      until: 'Veuillez répondre avant le',
      address: '5, rue du Port, Montréal',
      dress: 'Tenue vestimentaire',
    },
  },
  sampleData: {
    guest: { name: 'Ada' },
    host: 'Northwind Studio',
    replyBy: '2027-01-10',
    replyUrl: 'https://northwind.example/events/colors',
    event: {
      name: '[[evening]]',
      description: '[[about]]',
      start: '2027-01-22T19:30:00Z',
      end: '2027-01-22T23:30:00Z',
      place: '[[place]]',
      address: '[[address]]',
      dress: '[[attire]]',
    },
  },
};
