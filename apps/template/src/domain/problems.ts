import { quotaExceeded, shareUsedUp } from '@plinth/contracts/platform/problems';
import { templateProblems } from '@plinth/contracts/template/problems';
import { CATEGORIES_MAX, type TemplateParseError } from '@plinth/contracts/template/shapes';
import type { ShareScope } from '@plinth/kernel/fair-shares';
import { forbidden, invalid, Problem, unavailable } from '@plinth/kernel/problem';
import { titleOf, type TemplateKey } from './template-key';

/** `availableCultures` are those in which the name exists. */
export const templateNotFound = (key: TemplateKey, availableCultures: string[]) =>
  templateProblems['template-not-found'](
    `${titleOf(key)} does not exist.`,
    availableCultures.length > 0 ? { extensions: { availableCultures } } : {},
  );

export const templateExists = (key: TemplateKey) =>
  templateProblems['template-exists'](`${titleOf(key)} exists already.`);

export const templateNotPublished = (key: TemplateKey) =>
  templateProblems['template-not-published'](`${titleOf(key)} is not published.`);

export const transitionNotPossible = (key: TemplateKey, from: string, to: string) =>
  templateProblems['template-not-published'](`${titleOf(key)} cannot change from ${from} to ${to}.`);

export const nothingToPublish = (key: TemplateKey) =>
  templateProblems['template-without-draft'](`${titleOf(key)} has no draft to publish.`);

export const reviewNotNeeded = (key: TemplateKey) =>
  templateProblems['template-without-draft'](`${titleOf(key)} needs no review; publish it.`);

export const savedMeanwhile = (key: TemplateKey) =>
  templateProblems['template-without-draft'](
    `${titleOf(key)} was saved again meanwhile; check the new draft and publish again.`,
  );

export const templateChangedTooOften = (key: TemplateKey) =>
  unavailable(`${titleOf(key)} is changed too often at the moment; try again.`);

export const reviewNeeded = (key: TemplateKey) =>
  templateProblems['template-needs-review'](`${titleOf(key)} must be reviewed before it is published.`);

export const submittedByCaller = (key: TemplateKey) =>
  templateProblems['template-submitted-by-caller'](
    `You submitted ${titleOf(key)}; another person must publish it.`,
  );

export const approvalNotWaived = (permission: string) =>
  forbidden(`The template needs approval; only holders of ${permission} may take that away.`);

export const draftNotFound = (key: TemplateKey) =>
  templateProblems['draft-not-found'](`${titleOf(key)} has no draft.`);

export const revisionNotFound = (name: string) =>
  templateProblems['revision-not-found'](`The template "${name}" has no such revision.`);

export const revisionNeverPublished = () =>
  templateProblems['template-not-published']('This revision was never published.');

export const templateDoesNotParse = (parseErrors: TemplateParseError[]) =>
  templateProblems['template-does-not-parse'](parseErrors[0]?.message ?? 'The template has errors.', {
    extensions: { parseErrors },
  });

export const templateDoesNotRender = (parseErrors: TemplateParseError[]) =>
  templateProblems['template-does-not-render'](parseErrors[0]?.message ?? 'The template has errors.', {
    extensions: { parseErrors },
  });

/** `detail` names the limit. */
export const templateTooExpensive = (detail: string, cause?: unknown) =>
  templateProblems['template-too-expensive'](detail, { cause });

export const includesTooDeep = () => templateTooExpensive('Templates include each other too deeply.');

/** `detail` says what the caller would have to wait for. */
export const rendererBusy = (detail: string, retryAfterSeconds: number, cause?: unknown) =>
  templateProblems['renderer-busy'](detail, { retryAfterSeconds, cause });

/** Too much is waiting: of the caller, or of all. @param what in plural */
export const rendererFull = (scope: ShareScope, what: string, retryAfterSeconds: number) =>
  scope === 'all'
    ? rendererBusy(`There are too many ${what}.`, retryAfterSeconds)
    : shareUsedUp(scope, what, retryAfterSeconds);

/** For the items of a batch that have no room in its response. */
export const batchTooLarge = (bytesMax: number) =>
  new Problem(
    'too-large',
    `The results of a batch have at most ${bytesMax} bytes; render this item in another one.`,
  );

export const galleryTemplateNotFound = (name: string) =>
  templateProblems['gallery-template-not-found'](`The gallery has no template "${name}".`);

export const categoryNotFound = () =>
  templateProblems['category-not-found']('There is no category of this id.');

export const categoryExists = (name: string) =>
  templateProblems['category-exists'](`There is a category "${name}" already.`);

export const tooManyCategories = (used: number) =>
  quotaExceeded({ quota: 'template-categories', what: 'template categories', limit: CATEGORIES_MAX, used });

/** @param countedMax so many are counted at most */
export const categoryInUse = (name: string, templates: number, countedMax: number) => {
  const counted = templates < countedMax ? `${templates}` : `At least ${countedMax}`;
  return templateProblems['category-in-use'](`${counted} templates have the category "${name}".`);
};

export const tooManyToRename = (name: string, max: number) =>
  invalid(
    { name: 'Immutable' },
    `More than ${max} templates have the category "${name}", deleted ones included, too many to get a new name at once. Make another category instead.`,
  );
