import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField } from 'react-aria-components/TextField';

interface TextFieldProps {
  label: string;
  /** Read aloud only. */
  hidesLabel?: boolean;
  description?: string;
  placeholder?: string;
  /** Both are left out where what is around the field knows them. */
  value?: string;
  onChange?: (value: string) => void;
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
  placeholder,
  isMultiline = false,
  ...rest
}: TextFieldProps) {
  const Field = isMultiline ? TextArea : Input;
  return (
    <AriaTextField {...rest} className="field" {...(hidesLabel ? { 'aria-label': label } : {})}>
      {!hidesLabel && <Label>{label}</Label>}
      <Field className="input" {...(placeholder === undefined ? {} : { placeholder })} />
      {description && (
        <Text slot="description" className="description">
          {description}
        </Text>
      )}
    </AriaTextField>
  );
}
