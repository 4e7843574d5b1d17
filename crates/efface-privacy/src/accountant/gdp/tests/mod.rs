mod batches;
mod cyclic;
mod descent;
mod distributed;
mod events;
mod refusals;
mod schedules;
