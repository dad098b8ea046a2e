import type { Headers } from '@temporalio/common';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** Runs inside of workflows, so it knows nothing but Temporal's own types. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let trace: Headers = {};
  const handOn = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...trace },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const { traceparent } = input.headers;
          if (traceparent) trace = { traceparent };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(handOn(input)),
        continueAsNew: (input, next) => next(handOn(input)),
      },
    ],
  };
};
