import { statusByKind } from '@plinth/http/problem-details';
import { notFound, type ProblemType } from '@plinth/kernel/problem';
import { escapeHtml, htmlPage, sendHtml } from './html';
import { onlyMethods, type PageGroup } from './pages';

/** `/problems` and `/problems/{slug}`: what went wrong, and what to do about it. */
export const problemPages = (catalogue: Readonly<Record<string, ProblemType>>): PageGroup => ({
  path: '/problems',
  mount(app) {
    app.get('/problems', (_request, response) => sendHtml(response, listPage(catalogue)));
    onlyMethods(app, '/problems', 'GET', 'HEAD');
    app.get('/problems/:slug', (request, response) => {
      const { slug } = request.params;
      const type = Object.hasOwn(catalogue, slug) ? catalogue[slug] : undefined;
      if (!type) throw notFound(`There is no problem "${slug}".`);
      sendHtml(response, problemPage(slug, type));
    });
    onlyMethods(app, '/problems/:slug', 'GET', 'HEAD');
  },
});

function problemPage(slug: string, { kind, title, explanation }: ProblemType): string {
  return htmlPage(
    title,
    `<p class="kicker">Problem <code>${escapeHtml(slug)}</code> · status ${statusByKind[kind]}</p>
<h1>${escapeHtml(title)}</h1>
<p>${withCode(explanation)}</p>
<p><a href="/problems">All problems</a> · <a href="/docs">API reference</a></p>`,
  );
}

function listPage(catalogue: Readonly<Record<string, ProblemType>>): string {
  const rows = Object.entries(catalogue)
    .sort(([left], [right]) => left.localeCompare(right))
    .map(
      ([slug, { kind, title }]) =>
        `<tr><td>${statusByKind[kind]}</td><td><a href="/problems/${slug}">${escapeHtml(slug)}</a></td><td>${escapeHtml(title)}</td></tr>`,
    );
  return htmlPage(
    'Problems',
    `<h1>Problems</h1>
<p>The <code>type</code> of a problem names what happened. This list is complete.</p>
<table><thead><tr><th>Status</th><th>Problem</th><th>What it is</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>
<p><a href="/docs">API reference</a></p>`,
  );
}

const withCode = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
