import { Problem } from '@plinth/kernel/problem';
import type { Health } from '@plinth/runtime/process/health';
import { onlyMethods, type PageGroup } from './pages';

/** `/healthz`: the process is alive. */
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

/** The parts are checked at most this often, however often the page is requested. */
const CACHE_MILLISECONDS = 500;

/** `/readyz`: every part of the platform is reachable; the body names each one and its state. */
export function readinessPage(health: Health): PageGroup {
  let latest: { at: number; readiness: ReturnType<Health['readiness']> } | undefined;
  const readiness = () => {
    if (!latest || performance.now() - latest.at > CACHE_MILLISECONDS) {
      latest = { at: performance.now(), readiness: health.readiness() };
    }
    return latest.readiness;
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
