import { standardSchemaResolver } from '@hookform/resolvers/standard-schema';
import { ApiProblem } from '@plinth/sdk/api-problem';
import { useMutation } from '@tanstack/react-query';
import { useRef, type ReactNode } from 'react';
import {
  useController,
  useForm,
  type Control,
  type DefaultValues,
  type FieldPath,
  type FieldValues,
} from 'react-hook-form';
import { TextField, type TextFieldProps } from '../components/text-field';
import { whenOnline } from '../components/when-online';
import { useTexts, type TextKey } from '../texts/texts';
import { ruleOf, ruleText } from './rule-text';
import type { Refusal, ShapeName } from './shapes';

interface ContractFormOptions<Values extends FieldValues> {
  /** By which the fields are checked before they are sent. */
  shape: ShapeName;
  defaultValues: DefaultValues<Values>;
  /** Words for a broken rule of a field, such as `name.Format`, where there are better ones than those for every field. */
  words?: Partial<Record<`${FieldPath<Values>}.${string}`, TextKey>>;
  /** The fields that problems are about, by the type of the problem. */
  problems?: Partial<Record<string, FieldPath<Values>>>;
  send: (values: Values) => Promise<unknown>;
  onSent?: (values: Values) => unknown;
}

/** What is sent, and what the page wanted to be done with it when it was submitted. */
interface Sending<Values extends FieldValues> {
  values: Values;
  asked: Pick<ContractFormOptions<Values>, 'send'> & {
    onSent: ContractFormOptions<Values>['onSent'] | undefined;
  };
}

export interface ContractForm<Values extends FieldValues> {
  control: Control<Values>;
  /** What is written now. */
  values: () => Values;
  /** Begins anew, with these values. */
  reset: (values?: Values) => void;
  /** Sends the fields where the platform would accept them; else shows why not. What is given replaces values. */
  submit: (change?: Partial<Values>) => void;
  isPending: boolean;
  /** What went wrong with the sending and is shown at no field. */
  failure: Error | null;
}

const loadShapes = () => whenOnline(() => import('./shapes'));

/** A form that is checked by the contract before it is sent, and shows at each field what the platform refuses of it. */
export function useContractForm<Values extends FieldValues>({
  shape,
  defaultValues,
  words = {},
  problems = {},
  send,
  onSent,
}: ContractFormOptions<Values>): ContractForm<Values> {
  const texts = useTexts();
  const isField = (path: string): path is FieldPath<Values> => path in defaultValues;
  const messageOf = (path: string, code: string, value: unknown, maximumLength?: number) => {
    const rule = ruleOf(code);
    const own = (words as Record<string, TextKey | undefined>)[`${path}.${rule}`];
    return own ? texts.t(own) : ruleText(texts, rule, value, maximumLength);
  };
  const check = async (values: Values) => {
    // Where the shapes cannot be loaded, the platform is the one that judges.
    const { refusalOf } = await loadShapes().catch(() => ({ refusalOf: () => undefined }));
    const refusal: Refusal | undefined = refusalOf(shape, values);
    if (!refusal) return { value: values };
    const issues = Object.entries(refusal.errors).map(([path, [code = '']]) => ({
      path: path.split('.'),
      message: messageOf(path, code, values[path], refusal.maximumLengths[path]),
    }));
    return { issues };
  };
  const form = useForm<Values>({
    defaultValues,
    resolver: standardSchemaResolver<Values, unknown, Values>({
      // As they are now: what is typed while the shapes are loaded is not sent.
      '~standard': { version: 1, vendor: 'plinth', validate: (values) => check({ ...(values as Values) }) },
    }),
  });
  const { isSubmitting } = form.formState;
  // A second press, or Enter in a field, would send twice what is being checked or sent.
  const isUnderWay = useRef(false);
  const fieldsOf = (error: Error | null): [FieldPath<Values>, string][] => {
    if (!(error instanceof ApiProblem)) return [];
    const field = problems[error.slug ?? ''];
    if (field) return [[field, texts.find(`Problems.types.${error.slug}`) ?? error.problem.detail]];
    return Object.entries(error.errors).flatMap(([path, [code = '']]) =>
      isField(path) ? [[path, messageOf(path, code, form.getValues(path))]] : [],
    );
  };
  const mutation = useMutation({
    mutationFn: ({ values, asked }: Sending<Values>) => asked.send(values),
    onSuccess: (_, { values, asked }) => asked.onSent?.(values),
    onError: (error) =>
      fieldsOf(error).forEach(([field, message], index) =>
        form.setError(field, { message }, { shouldFocus: index === 0 }),
      ),
    onSettled: () => {
      isUnderWay.current = false;
    },
  });
  const submit = async (change: Partial<Values>) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    let isSent = false;
    try {
      await form.handleSubmit((values) => {
        isSent = true;
        // As it is now: the page may be another one when the fields are checked, or when there is a connection again.
        mutation.mutate({ values: { ...values, ...change }, asked: { send, onSent } });
      })();
    } finally {
      if (!isSent) isUnderWay.current = false;
    }
  };
  return {
    control: form.control,
    values: () => form.getValues(),
    reset: (values) => form.reset(values),
    submit: (change = {}) => void submit(change),
    isPending: isSubmitting || mutation.isPending,
    failure: fieldsOf(mutation.error).length > 0 ? null : mutation.error,
  };
}

interface ContractFormProps<Values extends FieldValues> {
  form: ContractForm<Values>;
  className: string;
  children: ReactNode;
}

export function Form<Values extends FieldValues>({ form, className, children }: ContractFormProps<Values>) {
  return (
    <form
      noValidate
      className={className}
      // Who begins to write soon sends.
      onFocus={() => void loadShapes().catch(() => undefined)}
      onSubmit={(event) => {
        event.preventDefault();
        form.submit();
      }}
    >
      {children}
    </form>
  );
}

interface FormFieldProps<Values extends FieldValues> extends Omit<TextFieldProps, 'value' | 'onChange'> {
  form: ContractForm<Values>;
  name: FieldPath<Values>;
  /** Told what a person writes, as to keep it. */
  onWrite?: (text: string) => void;
}

/** A text of a form, with what is wrong with it. */
export function FormField<Values extends FieldValues>({
  form,
  name,
  onWrite,
  ...rest
}: FormFieldProps<Values>) {
  const { field, fieldState } = useController({ control: form.control, name });
  return (
    <TextField
      {...rest}
      inputRef={field.ref}
      value={field.value}
      onChange={(text) => {
        field.onChange(text);
        onWrite?.(text);
      }}
      errorMessage={fieldState.error?.message}
    />
  );
}
