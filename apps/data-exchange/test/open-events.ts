/** Reads a stream of events as far as it has to, and then on from there. */
export async function openEvents({ url, headers }: { url: string; headers: Record<string, string> }) {
  const { body } = await fetch(url, { headers });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    async readTo(part: string) {
      while (!text.includes(part)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The stream ended without ${part}: ${text}`);
        text += value;
      }
      text = text.slice(text.indexOf(part));
    },
    async readToEnd(): Promise<string> {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return text;
        text += value;
      }
    },
  };
}
