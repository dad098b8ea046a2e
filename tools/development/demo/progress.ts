const WIDTH = 30;
const isTerminal = process.stdout.isTTY === true;

export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** A bar that grows with the work; without a terminal, it is silent. */
export function progressBar(title: string): {
  show(done: number, total: number): void;
  end(text: string): void;
} {
  const line = (text: string) => {
    if (isTerminal) process.stdout.write(`\r\x1b[2K${text}`);
  };
  return {
    show(done, total) {
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(share * WIDTH);
      line(`  ${title} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)} %`);
    },
    end(text) {
      line('');
      print(`  ${title} ${text}`);
    },
  };
}

export const count = (value: number): string => value.toLocaleString('en');

export const perSecond = (rows: number, milliseconds: number): string =>
  `${count(Math.round((rows / Math.max(1, milliseconds)) * 1_000))} rows/s`;
