mod distributed;
mod events;
mod refusals;
mod schedules;
