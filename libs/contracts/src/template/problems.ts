import { defineProblems } from '@plinth/kernel/problem';

/** The problems of the template service. */
export const templateProblems = defineProblems({
  'template-not-found': {
    kind: 'not-found',
    title: 'Template not found',
    explanation:
      'There is no template of this name and culture. Where the name exists in other cultures, `availableCultures` lists them.',
  },
  'draft-not-found': {
    kind: 'not-found',
    title: 'Draft not found',
    explanation: 'The template has no draft that could be deleted.',
  },
  'revision-not-found': {
    kind: 'not-found',
    title: 'Revision not found',
    explanation: 'The template has no revision of this id.',
  },
  'template-exists': {
    kind: 'conflict',
    title: 'Template exists',
    explanation: 'A template of this name and culture exists already. PUT saves a new draft of it.',
  },
  'template-without-draft': {
    kind: 'conflict',
    title: 'Nothing to publish',
    explanation: 'The template has no draft. Save one with PUT, then publish it.',
  },
  'template-needs-review': {
    kind: 'conflict',
    title: 'Review needed',
    explanation:
      'This template needs approval. Move its draft to PendingReview through the workflow endpoints; then somebody else publishes it.',
  },
  'template-not-published': {
    kind: 'conflict',
    title: 'Not published',
    explanation: 'The template has no published revision.',
  },
  'template-submitted-by-caller': {
    kind: 'forbidden',
    title: 'Own submission',
    explanation: 'Whoever submits a draft for review cannot publish it; another person must.',
  },
  'template-does-not-parse': {
    kind: 'invalid',
    title: 'Template does not parse',
    explanation:
      'The template has errors; `parseErrors` tells each with line, column and the text around it.',
  },
  'template-does-not-render': {
    kind: 'invalid',
    title: 'Template does not render',
    explanation:
      'The template parses, but something in it cannot be done with this data; `parseErrors` says where.',
  },
  'template-too-expensive': {
    kind: 'invalid',
    title: 'Template too expensive',
    explanation:
      'Rendering went over a limit of time, work, depth or size. Let the template repeat less, or give it less data.',
  },
  'renderer-busy': {
    kind: 'overloaded',
    title: 'Renderer busy',
    explanation: 'More documents are asked for than can wait in line. Try again after the time given.',
  },
  'gallery-template-not-found': {
    kind: 'not-found',
    title: 'Gallery template not found',
    explanation: 'The gallery has no template of this name.',
  },
  'category-not-found': {
    kind: 'not-found',
    title: 'Category not found',
    explanation: 'There is no category of this id.',
  },
  'category-exists': {
    kind: 'conflict',
    title: 'Category exists',
    explanation: 'A category of this name exists already.',
  },
  'category-in-use': {
    kind: 'conflict',
    title: 'Category in use',
    explanation: 'Templates have this category. Give them another one, then delete it.',
  },
});
