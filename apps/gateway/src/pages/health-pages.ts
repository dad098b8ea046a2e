import { Problem } from '@plinth/kernel/problem';
import type { Health } from '@plinth/runtime/health';
import { onlyMethods, type PageGroup } from './pages';

/** `/healthz`: the process answers. */
export const healthPage = (): PageGroup => ({
  path: '/healthz',
  unlimited: true,
  mount(app) {
    app.get('/healthz', (_request, response) => {
      response.set('cache-control', 'no-store').json({ alive: true });
    });
    onlyMethods(app, '/healthz', 'GET', 'HEAD');
  },
});

/** The parts are asked at most this often, however often the page is. */
const FRESH_MILLISECONDS = 500;

/** `/readyz`: every part of the platform is reachable; the body names each one and its state. */
export function readinessPage(health: Health): PageGroup {
  let asked: { at: number; answer: ReturnType<Health['readiness']> } | undefined;
  const readiness = () => {
    if (!asked || performance.now() - asked.at > FRESH_MILLISECONDS) {
      asked = { at: performance.now(), answer: health.readiness() };
    }
    return asked.answer;
  };

  return {
    path: '/readyz',
    unlimited: true,
    mount(app) {
      app.get('/readyz', async (_request, response) => {
        const { ready, parts } = await readiness();
        if (ready) {
          response.set('cache-control', 'no-store').json({ ready, parts });
          return;
        }
        const down = Object.keys(parts).filter((part) => parts[part] !== 'up');
        throw new Problem('overloaded', `Not ready: ${down.join(', ')}.`, {
          extensions: { ready, parts },
          retryAfterSeconds: 2,
        });
      });
      onlyMethods(app, '/readyz', 'GET', 'HEAD');
    },
  };
}
