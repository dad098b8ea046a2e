import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  look?: 'primary' | 'danger' | 'quiet';
  isLarge?: boolean;
  children: ReactNode;
}

export function Button({ look, isLarge = false, ...props }: ButtonProps) {
  return <AriaButton {...props} className={['button', look, isLarge && 'large'].filter(Boolean).join(' ')} />;
}

/** A button that shows an icon only; its name is read aloud and shown on hover and focus. */
export function IconButton({ label, look = 'quiet', ...props }: ButtonProps & { label: string }) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...props} aria-label={label} className={`button icon-only ${look}`} />
      <Tooltip className="tooltip" offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  );
}
