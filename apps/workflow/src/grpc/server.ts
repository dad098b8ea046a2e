import type { GrpcService } from '@plinth/runtime/grpc';
import type { Deps } from '../compose';

/** What siblings may ask. */
export const grpcServices = (_deps: Deps): GrpcService[] => [];
