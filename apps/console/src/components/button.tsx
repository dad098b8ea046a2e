import type { ReactNode, Ref } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  look?: 'primary' | 'danger' | 'quiet';
  isLarge?: boolean;
  children: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look, isLarge = false, ...props }: ButtonProps) {
  return <AriaButton {...props} className={['button', look, isLarge && 'large'].filter(Boolean).join(' ')} />;
}
