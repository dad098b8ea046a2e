/** The type of the failure of a short activity that must go on as a long one. */
export const TOO_LONG = 'TooLong';

/** The type of the failure of an activity whose database lost what the workflow was told is done. */
export const LOST_PROGRESS = 'LostProgress';

/** Says of the failure of an activity that it was given up, as its processes ended each time. */
export const PROCESSES_ENDED = 'ProcessesEnded';
