import { operationsEndpoints } from './operations-endpoints';
import { sessionEndpoints } from './session-endpoints';

/** The endpoints of the gateway itself, outside the prefix and its versions. */
export const platformEndpoints = { ...sessionEndpoints, ...operationsEndpoints };
