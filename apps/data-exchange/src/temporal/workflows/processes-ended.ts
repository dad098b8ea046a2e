/** Says of the failure of an activity that it was given up, as its processes ended each time. */
export const PROCESSES_ENDED = 'ProcessesEnded';
