import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { DocumentFormat, TemplateLifecycleStatus } from '@plinth/contracts/template/shapes';
import { everyItem } from '@plinth/sdk/every-item';
import { saveTo } from '@plinth/sdk/node-files';
import { Download } from '@plinth/sdk/response';
import type { Command } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { ExitCode } from '../exit-codes';
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
      const found = (await readTenant(session)).flatMap(({ newest }) => newest ?? []);
      writeFolder(folder, found);
      session.terminal.result(found.map(summaryOf), `${counted(found.length, 'template')} in ${folder}`);
    });

  templates
    .command('push')
    .description('show what differs, and save it as drafts after a confirmation')
    .argument('[folder]', 'folder', 'templates')
    .option('--publish', 'publish what is saved, and drafts that are as in the folder')
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

/** A template of the tenant as it was read. */
interface StoredTemplate extends Pick<TemplateFile, 'name' | 'culture'> {
  /** Its draft, or else what is published; nothing where it is archived. */
  newest: TemplateFile | undefined;
  /** Of its draft; nothing where it has none. */
  draftStatus: number | undefined;
  etag: string | undefined;
}

async function readTenant({ template: templates }: Session): Promise<StoredTemplate[]> {
  const found: StoredTemplate[] = [];
  // What is saved meanwhile moves to the front of the usual order, which was read before; names stay.
  const list = { pageSize: 100, sort: 'name' };
  for await (const { name, culture: ofText } of everyItem(templates.getTemplates, { list })) {
    const query = ofText ? { culture: ofText } : {};
    const { body, etag } = await templates.getTemplate({ params: { name }, query });
    const culture = ofText ?? null;
    const { draft, published, category = null } = body;
    const revision = draft ?? published;
    const newest = revision && {
      name,
      culture,
      category,
      mimeType: revision.mimeType,
      content: revision.content,
    };
    found.push({ name, culture, newest, draftStatus: draft?.status, etag });
  }
  return found.sort((left, right) => (titleOf(left) < titleOf(right) ? -1 : 1));
}

const summaryOf = ({ content: _content, ...rest }: TemplateFile) => rest;

async function push(session: Session, folder: string, { publish, dryRun }: PushOptions): Promise<void> {
  const { terminal } = session;
  const stored = new Map((await readTenant(session)).map((template) => [titleOf(template), template]));
  const storedOf = (template: TemplateFile) => stored.get(titleOf(template));
  const wanted = readFolder(folder);
  const changed = wanted.filter((template) => differs(template, storedOf(template)?.newest));
  for (const template of changed) terminal.note(differenceOf(template, storedOf(template)?.newest));
  // Such as those that a push had saved when it was interrupted.
  const draftsIn = (status: number) =>
    publish ? wanted.filter((one) => !changed.includes(one) && storedOf(one)?.draftStatus === status) : [];
  const unpublished = draftsIn(TemplateLifecycleStatus.Draft);
  // To publish one of these is to approve it, which a person does who has read it.
  const inReview = draftsIn(TemplateLifecycleStatus.PendingReview);
  for (const template of inReview) terminal.note(`Waits for review: ${titleOf(template)}`);
  if (inReview.length > 0) process.exitCode = ExitCode.Partly;
  for (const template of unpublished) terminal.note(`Not published yet: ${titleOf(template)}`);
  for (const [title, { newest }] of stored)
    if (newest && !wanted.some((template) => titleOf(template) === title))
      terminal.note(`Only in the tenant: ${title}`);
  const pushed = [...changed, ...unpublished];
  if (pushed.length > 0 && !dryRun) {
    const steps = [
      ...(changed.length > 0 ? [`save ${counted(changed.length, 'template')}`] : []),
      ...(publish ? [`publish ${pushed.length}`] : []),
    ].join(' and ');
    await terminal.confirm(`${steps[0]!.toUpperCase()}${steps.slice(1)}?`);
    for (const template of pushed) {
      const former = storedOf(template);
      const etag = changed.includes(template) ? await save(session, template, former) : former?.etag;
      if (publish) await publishDraft(session, template, etag);
    }
  }
  const done = publish ? 'published' : 'saved as drafts';
  const left = publish ? 'differ or are not published' : 'differ';
  terminal.result(
    pushed.map(summaryOf),
    `${pushed.length} of ${wanted.length} templates ${dryRun ? left : done}`,
  );
}

/** Saves a template over what was read of it, and over nothing that somebody saved since. Returns its new tag. */
async function save(
  { template: templates }: Session,
  { name, culture, category, mimeType, content }: TemplateFile,
  former: StoredTemplate | undefined,
): Promise<string | undefined> {
  const body = { name, culture, category, mimeType, content };
  const { etag } = former
    ? await templates.putTemplate({ params: { name }, body, ifMatch: former.etag })
    : await templates.postTemplate({ body });
  return etag;
}

async function publishDraft(
  { template: templates }: Session,
  { name, culture }: TemplateFile,
  etag: string | undefined,
): Promise<void> {
  await templates.publishTemplate({ params: { name }, query: culture ? { culture } : {}, ifMatch: etag });
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
