import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { DocumentFormat } from '@plinth/contracts/template/shapes';
import { everyItem } from '@plinth/sdk/every-item';
import { saveTo } from '@plinth/sdk/node-files';
import { Download } from '@plinth/sdk/response';
import type { Command } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { openSession, type Session } from '../session';
import { counted } from '../terminal';
import { readFolder, titleOf, writeFolder, type TemplateFile } from '../template-folder';

/** `templates pull`, `push` and `preview`. */
export function addTemplates(program: Command): void {
  const templates = program
    .command('templates')
    .description('a folder of templates, such as one in git, and the tenant in step');

  templates
    .command('pull')
    .description('write the templates of the tenant into a folder')
    .argument('[folder]', 'folder', 'templates')
    .action(async (folder: string, _options: object, command: Command) => {
      const session = openSession(command);
      const found = await readTenant(session);
      writeFolder(folder, found);
      session.terminal.result(found.map(summaryOf), `${counted(found.length, 'template')} in ${folder}`);
    });

  templates
    .command('push')
    .description('show what differs, and save it as drafts after a confirmation')
    .argument('[folder]', 'folder', 'templates')
    .option('--publish', 'publish what was saved')
    .option('--dry-run', 'only show what differs')
    .action(async (folder: string, options: PushOptions, command: Command) => {
      await push(openSession(command), folder, options);
    });

  templates
    .command('preview')
    .description('render a template, stored or in a file')
    .argument('<name>')
    .option('--culture <code>', 'language of the rendering')
    .option('--data <file>', 'JSON with the data')
    .option('--content <file>', 'rendered in place of what is stored; nothing is saved')
    .option('-o, --output <file>', 'where to write it: .html, .pdf or .xlsx')
    .action(async (name: string, options: PreviewOptions, command: Command) => {
      await preview(openSession(command), name, options);
    });
}

interface PushOptions {
  publish?: boolean;
  dryRun?: boolean;
}

interface PreviewOptions {
  culture?: string;
  data?: string;
  content?: string;
  output?: string;
}

/** Each template with its draft, or else what is published. */
async function readTenant({ template: templates }: Session): Promise<TemplateFile[]> {
  const found: TemplateFile[] = [];
  for await (const { name, culture } of everyItem(templates.getTemplates, { list: { pageSize: 100 } })) {
    const { body } = await templates.getTemplate({ params: { name }, query: culture ? { culture } : {} });
    const revision = body.draft ?? body.published;
    if (revision === undefined) continue;
    found.push({
      name,
      culture: culture ?? null,
      category: body.category ?? null,
      mimeType: revision.mimeType,
      content: revision.content,
    });
  }
  return found.sort((left, right) => (titleOf(left) < titleOf(right) ? -1 : 1));
}

const summaryOf = ({ content: _content, ...rest }: TemplateFile) => rest;

async function push(session: Session, folder: string, { publish, dryRun }: PushOptions): Promise<void> {
  const { template: templates, terminal } = session;
  const stored = new Map((await readTenant(session)).map((template) => [titleOf(template), template]));
  const wanted = readFolder(folder);
  const changed = wanted.filter((template) => differs(template, stored.get(titleOf(template))));
  for (const template of changed) terminal.note(differenceOf(template, stored.get(titleOf(template))));
  for (const title of stored.keys())
    if (!wanted.some((template) => titleOf(template) === title))
      terminal.note(`Only in the tenant: ${title}`);
  if (changed.length > 0 && !dryRun) {
    await terminal.confirm(`Save ${changed.length} templates${publish ? ' and publish them' : ''}?`);
    for (const { name, culture, category, mimeType, content } of changed) {
      const body = { name, culture, category, mimeType, content };
      const { etag } = await templates.putTemplate({ params: { name }, body });
      const query = culture ? { culture } : {};
      if (publish) await templates.publishTemplate({ params: { name }, query, ifMatch: etag });
    }
  }
  const verb = dryRun ? 'differ' : publish ? 'published' : 'saved as drafts';
  terminal.result(changed.map(summaryOf), `${changed.length} of ${wanted.length} templates ${verb}`);
}

const differs = (template: TemplateFile, stored: TemplateFile | undefined): boolean =>
  stored === undefined ||
  stored.content !== template.content ||
  stored.category !== template.category ||
  stored.mimeType !== template.mimeType;

const differenceOf = (template: TemplateFile, stored: TemplateFile | undefined): string =>
  createTwoFilesPatch(
    stored === undefined ? '(new)' : `${titleOf(template)} in the tenant`,
    `${titleOf(template)} in the folder`,
    stored === undefined ? '' : textOf(stored),
    textOf(template),
  );

const textOf = ({ category, mimeType, content }: TemplateFile): string =>
  `category: ${category ?? '(none)'}\ntype: ${mimeType}\n\n${content}`;

const formatByExtension: Record<string, DocumentFormat> = {
  '.pdf': DocumentFormat.Pdf,
  '.xlsx': DocumentFormat.Excel,
};

async function preview(session: Session, name: string, options: PreviewOptions): Promise<void> {
  const { template: templates, terminal } = session;
  const { body } = await templates.previewTemplate({
    params: { name },
    body: {
      format: formatByExtension[extname(options.output ?? '')] ?? DocumentFormat.Html,
      ...(options.culture === undefined ? {} : { culture: options.culture }),
      ...(options.data === undefined ? {} : { data: JSON.parse(readFileSync(options.data, 'utf8')) }),
      ...(options.content === undefined ? {} : { content: readFileSync(options.content, 'utf8') }),
    },
  });
  if (body instanceof Download) {
    await saveTo(body, options.output!);
    terminal.result({ file: options.output }, `Written to ${options.output}`);
    return;
  }
  if (options.output !== undefined) writeFileSync(options.output, body.html);
  terminal.result(body, options.output === undefined ? body.html : `Written to ${options.output}`);
}
