import { podsOfProcesses } from '@plinth/testing/pods';
import { sharedPlatform, type SharedPlatform } from '@plinth/testing/shared-platform';

/** What holds the processes on a cluster; where the manifests cannot be rendered, they only have to live on. */
export const pods = podsOfProcesses();

/** Off, since an attacker may have many users. */
const RATE_LIMITS = { default: { user: 1e9, tenant: 1e9, address: 1e9 } };

/** A platform for attacks, whose processes have the heaps that `k8s/` gives them. */
export const limitedPlatform = (): Promise<SharedPlatform> =>
  sharedPlatform('memory', {
    NODE_OPTIONS: pods?.get('settings')?.nodeOptions ?? '',
    RATE_LIMITS: JSON.stringify(RATE_LIMITS),
  });
