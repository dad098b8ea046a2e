import { StatementEvaluator } from './evaluate-statement';
import { LimitError } from './meter';
import type { RenderContext } from './render-context';
import type { Statement } from './syntax';

export interface EvaluatedTemplate {
  text: string;
  /** Variables that the template uses and the data lacks, as dotted paths. */
  missing: string[];
}

/** Renders parsed statements. @throws TemplateError, LimitError */
export function evaluate(statements: readonly Statement[], context: RenderContext): EvaluatedTemplate {
  const evaluator = new StatementEvaluator(context);
  try {
    const text = evaluator.template(statements);
    return { text, missing: [...evaluator.missing] };
  } catch (error) {
    throw error instanceof RangeError ? new LimitError('depth') : error;
  }
}
