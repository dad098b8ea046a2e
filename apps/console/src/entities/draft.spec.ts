import { draftAfter, type Draft } from './draft';

const empty: Draft = { body: '', people: [], files: [], isNote: false };
const ada = { id: 'ada', displayName: 'Ada' } as Draft['people'][number];
const plan = { id: '1', fileName: 'plan.pdf' };
const photo = { id: '2', fileName: 'photo.png' };

it('is empty once it was posted as it is, and of the same kind', () => {
  const former = { ...empty, body: 'For @Ada', people: [ada], files: [plan], isNote: true };
  expect(draftAfter(former, former, empty)).toEqual({ ...empty, isNote: true });
});

it('keeps what was typed, attached and chosen while it was posted', () => {
  const posted = { ...empty, body: 'A secret', files: [plan], isNote: true };
  const meanwhile = { ...posted, body: 'For @Ada', people: [ada], files: [plan, photo], isNote: false };
  expect(draftAfter(meanwhile, posted, empty)).toEqual({
    ...empty,
    body: 'For @Ada',
    people: [ada],
    files: [photo],
  });
});
