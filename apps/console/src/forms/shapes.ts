// Before the shapes.
import './without-evaluation';
import { SaveExportPresetRequest } from '@plinth/contracts/data-exchange/shapes';
import { EntityType } from '@plinth/contracts/schemas';
import { UpdateSettingValueRequest } from '@plinth/contracts/settings/shapes';
import { CreateTemplateCategoryRequest, SaveTemplateRequest } from '@plinth/contracts/template/shapes';
import { CreateTimelineEntryRequest } from '@plinth/contracts/timeline/shapes';
import { TransitionRequestDto, WorkflowTransition } from '@plinth/contracts/workflow/shapes';
import { problemOfIssues } from '@plinth/kernel/validation';
import { z } from 'zod';

/** As long as the platform allows. */
const DELEGATION_DAYS_MAX = 90;

/** The fields of forms, by the contracts of what the forms send. */
const shapes = {
  template: SaveTemplateRequest.pick({ name: true }),
  category: CreateTemplateCategoryRequest.pick({ name: true }),
  exportPreset: SaveExportPresetRequest.pick({ presetName: true }),
  setting: UpdateSettingValueRequest,
  comment: CreateTimelineEntryRequest.pick({ body: true }),
  transitionRequest: TransitionRequestDto.pick({ comment: true }),
  entityType: z.object({ entityType: EntityType }),
  // Days, of which the platform gets the instants: there are none of days that calendars here do not have.
  delegation: z.object({ from: z.iso.date(), until: z.iso.date() }).refine(
    ({ from, until }) => {
      const days = (Date.parse(until) - Date.parse(from)) / 86_400_000;
      // The last day is one of them.
      return days >= 0 && days < DELEGATION_DAYS_MAX && until < '9999-12-31';
    },
    { path: ['until'], params: { rule: 'Range' } },
  ),
  state: z.object({ name: WorkflowTransition.shape.from }),
};

export type ShapeName = keyof typeof shapes;

/** What the platform would refuse: the codes of broken rules by field, as in the `errors` of its problems. */
export interface Refusal {
  errors: Record<string, string[]>;
  /** The greatest length of each field that is too long. */
  maximumLengths: Record<string, number>;
}

/** Judges the fields of a form as the platform does. */
export function refusalOf(name: ShapeName, values: unknown): Refusal | undefined {
  const { error } = shapes[name].safeParse(values, { reportInput: true });
  if (!error) return undefined;
  const { errors = {} } = problemOfIssues(error.issues, 'body');
  const maximumLengths = error.issues.flatMap((issue) => {
    const maximum = issue.code === 'custom' ? issue.params?.['maximum'] : 'maximum' in issue && issue.maximum;
    return typeof maximum === 'number' ? [[issue.path.join('.'), maximum] as const] : [];
  });
  return { errors, maximumLengths: Object.fromEntries(maximumLengths) };
}
