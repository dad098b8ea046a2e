import type { Ref } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField } from 'react-aria-components/TextField';

export interface TextFieldProps {
  label: string;
  /** Read aloud only. */
  hidesLabel?: boolean;
  description?: string;
  /** What is wrong with the value. */
  errorMessage?: string | undefined;
  placeholder?: string;
  /** Both are left out where what is around the field knows them. */
  value?: string;
  onChange?: (value: string) => void;
  inputRef?: Ref<HTMLInputElement & HTMLTextAreaElement>;
  isMultiline?: boolean;
  type?: 'text' | 'password' | 'date';
  inputMode?: 'text' | 'decimal';
  autoComplete?: string;
  autoFocus?: boolean;
}

export function TextField({
  label,
  hidesLabel = false,
  description,
  errorMessage,
  placeholder,
  inputRef,
  isMultiline = false,
  ...rest
}: TextFieldProps) {
  const Field = isMultiline ? TextArea : Input;
  return (
    <AriaTextField
      {...rest}
      className="field"
      validationBehavior="aria"
      isInvalid={errorMessage !== undefined}
      {...(hidesLabel ? { 'aria-label': label } : {})}
    >
      {!hidesLabel && <Label>{label}</Label>}
      <Field
        className="input"
        {...(inputRef ? { ref: inputRef } : {})}
        {...(placeholder === undefined ? {} : { placeholder })}
      />
      <FieldError className="error">{errorMessage}</FieldError>
      {description && (
        <Text slot="description" className="description">
          {description}
        </Text>
      )}
    </AriaTextField>
  );
}
