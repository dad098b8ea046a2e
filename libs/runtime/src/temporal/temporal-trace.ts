import { SpanKind } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { currentTraceparent, inSpan, TRACE_PARENT_HEADER } from '../process/tracing';

/** A workflow goes on with the trace of its caller: `workflow-trace.ts` hands it on to its activities. */
export const traceWorkflows: WorkflowClientInterceptor = {
  start: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
};

/** An activity is a step of the trace that its workflow goes on with. */
export const traceActivities: ActivityInterceptorsFactory = ({ info: { activityType } }) => ({
  inbound: {
    execute(input, next) {
      const header = input.headers[TRACE_PARENT_HEADER];
      const traceparent = header && defaultPayloadConverter.fromPayload<string>(header);
      return inSpan({ name: `activity ${activityType}`, kind: SpanKind.CONSUMER, traceparent }, () =>
        next(input),
      );
    },
  },
});

function withTrace(headers: Headers): Headers {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return headers;
  return { ...headers, [TRACE_PARENT_HEADER]: defaultPayloadConverter.toPayload(traceparent) };
}
